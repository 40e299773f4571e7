"""Parquet column chunks of dictionary codes in the plainest Python.

A chunk is pages one after the other: a header in Thrift's compact protocol, and bytes. The first page is the
dictionary; of the others each is a page of codes, of version 1 or 2 of the format. ValueError says that a
chunk is something else, or malformed.
"""

DATA, DICTIONARY, DATA_2 = 0, 2, 3
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8


class Bytes:
    """Bytes that are taken one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    @property
    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n < 0 or n > self.left:
            raise ValueError("more bytes than there are")
        self.at += n
        return self.data[self.at - n : self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self):
        value = shift = 0
        while shift < 64:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (2**64 - 1)
            shift += 7
        raise ValueError("a number of more than 64 bits")

    def signed(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth=0):
        """Field -> value, of the integers, booleans and structs of a Thrift struct."""
        if depth > 8:
            raise ValueError("too deep")
        fields, field = {}, 0
        while True:
            byte = self.byte()
            if byte == 0:
                return fields
            field = field + (byte >> 4) if byte >> 4 else self.signed()
            if not 1 <= field < 2**15:
                raise ValueError("no field")
            kind, has_own = byte & 15, depth == 0 and field in (5, 7, 8)
            if has_own and kind != 12:
                raise ValueError("a header is a struct")
            if kind in (1, 2):
                fields[field] = int(kind == 1)
            elif kind in (4, 5, 6):
                fields[field] = self.signed()
            elif kind == 12:
                found = self.struct(depth + 1)
                if has_own:
                    fields[field] = found
            elif kind == 8:
                self.take(self.number())
            elif kind in (3, 7):
                self.take(1 if kind == 3 else 8)
            else:
                raise ValueError("lists and maps are in no header of a page")


def header(source):
    """The type of a page, its size decompressed and as it is, its values and how they are written."""
    fields = source.struct()
    own = fields.get({DATA: 5, DICTIONARY: 7, DATA_2: 8}.get(fields.get(1)))
    if own is None or 1 not in own or not fields.keys() >= {1, 2, 3}:
        raise ValueError("no header of a page")
    kind, raw, stored = fields[1], fields[2], fields[3]
    n_values, encoding = own[1], own.get(4 if kind == DATA_2 else 2, 0)
    if kind == DATA and own.get(3, 0) != RLE:
        raise ValueError("levels of another encoding")
    if kind == DATA_2 and own.get(6, 0) != 0:
        raise ValueError("values that repeat")
    level_bytes = own.get(5, 0) if kind == DATA_2 else 0
    is_stored_raw = kind == DATA_2 and own.get(7, 1) == 0
    if not (0 <= raw < 2**31 and 0 <= n_values < 2**31 and 0 <= level_bytes <= min(raw, stored)):
        raise ValueError("no size")
    expected = (PLAIN, PLAIN_DICTIONARY) if kind == DICTIONARY else (RLE_DICTIONARY, PLAIN_DICTIONARY)
    if encoding not in expected:
        raise ValueError("another encoding")
    return kind, raw, source.take(stored), n_values, level_bytes, is_stored_raw


def snappy(data):
    """What Snappy has compressed."""
    source = Bytes(data)
    size, out = source.number(), bytearray()
    while source.left:
        tag = source.byte()
        if tag & 3 == 0:
            n = (tag >> 2) + 1
            if n > 60:
                n = int.from_bytes(source.take(n - 60), "little") + 1
            out += source.take(n)
            continue
        wide = {1: 1, 2: 2, 3: 4}[tag & 3]
        back = int.from_bytes(source.take(wide), "little")
        n = (tag >> 2) + 1
        if wide == 1:
            n, back = (tag >> 2 & 7) + 4, back | tag >> 5 << 8
        if not 1 <= back <= len(out) or len(out) + n > size:
            raise ValueError("a copy of nothing")
        for _ in range(n):
            out.append(out[-back])
    if len(out) != size:
        raise ValueError("another size")
    return bytes(out)


def unpack(source, width, n):
    """The first n codes of runs, and of packed groups of eight."""
    codes = []
    while len(codes) < n:
        run = source.number()
        count = run >> 1
        if count > 2**40:
            raise ValueError("a run that no page has")
        if run & 1:
            bits = int.from_bytes(source.take(count * width), "little")
            places = range(min(8 * count, n - len(codes)))
            codes += [bits >> place * width & (2**width - 1) for place in places]
        else:
            value = int.from_bytes(source.take((width + 7) // 8), "little")
            if value >> width:
                raise ValueError("a code wider than it says")
            codes += [value] * min(count, n - len(codes))
    return codes


def chunk(data, is_snappy, optional, most_bits=16):
    """The bytes of the dictionary's page, how many values it has, and the code of each row, None for a null.

    Codes that are written with more than `most_bits` bits are refused.
    """
    source, dictionary, codes = Bytes(data), None, []
    while source.left:
        kind, raw, stored, n, level_bytes, is_stored_raw = header(source)
        if (kind == DICTIONARY) != (dictionary is None):
            raise ValueError("the dictionary is the first page")
        levels, body = stored[:level_bytes], stored[level_bytes:]
        if is_snappy and not is_stored_raw:
            body = snappy(body)
            if len(body) != raw - level_bytes:
                raise ValueError("another size")
        if kind == DICTIONARY:
            dictionary, n_values = body, n
            continue
        page = Bytes(body)
        there = [1] * n
        if optional:
            if kind == DATA:
                levels = page.take(int.from_bytes(page.take(4), "little"))
            there = unpack(Bytes(levels), 1, n)
        elif level_bytes:
            raise ValueError("levels of a column that has none")
        present = []
        if any(there):
            width = page.byte()
            if width > most_bits:
                raise ValueError("codes of too many bits")
            present = unpack(page, width, sum(there))
        if any(code >= n_values for code in present):
            raise ValueError("a code beyond the dictionary")
        following = iter(present)
        codes += [next(following) if bit else None for bit in there]
    if dictionary is None:
        raise ValueError("no dictionary")
    return dictionary, n_values, codes
