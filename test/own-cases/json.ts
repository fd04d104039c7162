import { withCorpus } from '../corpora.ts';

export interface JsonCase {
  name: string;
  /** What the grammar of RFC 8259 says of the document; `either_no_crash` leaves it open. */
  expect: 'accept' | 'reject' | 'either_no_crash';
  bytes: Buffer;
  /** A document of the grammar that our reader refuses: its reason. */
  refusedFor?: string;
}

type Own = [
  name: string,
  expected: JsonCase['expect'],
  document: string | readonly number[],
  refusedFor?: string,
];
const OWN_DOCUMENTS: readonly Own[] = [
  ['empty object', 'accept', '{}'],
  ['object of every type', 'accept', '{"a":1,"b":-0.5,"c":"x","d":[true,false,null],"e":{}}'],
  ['white space of all four kinds', 'accept', ' \t\r\n{ "a" : 1 } '],
  ['escapes of every kind', 'accept', String.raw`{"a":"\"\\\/\b\f\n\r\t\u20ac\ud83d\udcb8"}`],
  ['empty key', 'accept', '{"":0}'],
  ['array of numbers', 'accept', '[1,2,3]'],
  ['lone text', 'accept', '"text"'],
  ['lone number', 'accept', '42'],
  ['lone null', 'accept', 'null'],
  ['one key twice', 'accept', '{"a":1,"a":2}', 'the key appears twice'],
  ['NUL in a text', 'accept', String.raw`{"a":"\u0000"}`, 'text with a NUL character'],
  ['exponent', 'accept', '{"a":2e3}', 'a number with an exponent'],
  ['nothing', 'reject', ''],
  ['unclosed object', 'reject', '{"a":1'],
  ['unclosed text', 'reject', '{"a":"b}'],
  ['comma at the end', 'reject', '{"a":1,}'],
  ['missing colon', 'reject', '{"a" 1}'],
  ['single quotes', 'reject', "{'a':1}"],
  ['a key without quotes', 'reject', '{a:1}'],
  ['leading zero', 'reject', '{"a":01}'],
  ['plus sign', 'reject', '{"a":+1}'],
  ['not a number', 'reject', '{"a":NaN}'],
  ['hexadecimal', 'reject', '{"a":0x1f}'],
  ['a raw line break in a text', 'reject', '{"a":"\n"}'],
  ['unknown escape', 'reject', String.raw`{"a":"\q"}`],
  ['two documents', 'reject', '{}{}'],
  ['a comment', 'reject', '{}/* */'],
  ['a byte that no UTF-8 has', 'reject', [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]],
  ['UTF-16 with a byte order mark', 'reject', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ['lone surrogate', 'either_no_crash', String.raw`{"a":"\ud800"}`],
  ['integer beyond a double', 'either_no_crash', '{"a":123456789012345678901234567890}'],
];

/** Documents that are JSON, that are not, and some that the grammar leaves open. */
export const jsonDocuments = (): readonly JsonCase[] =>
  withCorpus<JsonCase, (Omit<JsonCase, 'bytes'> & { b64: string })[]>(
    OWN_DOCUMENTS.map(([name, expected, document, refusedFor]) => ({
      name,
      expect: expected,
      bytes: typeof document === 'string' ? Buffer.from(document) : Buffer.from(document),
      ...(refusedFor === undefined ? {} : { refusedFor }),
    })),
    'json/nst_jsontestsuite.jsonl',
    (files) =>
      files.map(({ name, expect, b64 }) => {
        const refusedFor = OF_THE_SUITE[name];
        const bytes = Buffer.from(b64, 'base64');
        return { name, expect, bytes, ...(refusedFor === undefined ? {} : { refusedFor }) };
      }),
  );

/** Accepted by the public suite, refused by a rule of ours. */
const OF_THE_SUITE: Record<string, string> = {
  'y_object_duplicated_key.json': 'the key appears twice',
  'y_object_duplicated_key_and_value.json': 'the key appears twice',
  'y_object_escaped_null_in_key.json': 'text with a NUL character',
  'y_object_extreme_numbers.json': 'a number with an exponent',
};

interface ByteCase {
  name: string;
  input: readonly number[];
}

/** Bytes that are no UTF-8 (RFC 3629). */
export const invalidUtf8 = (): readonly ByteCase[] =>
  withCorpus<ByteCase, { fatal_invalid: ByteCase[] }>(
    [
      { name: 'continuation alone', input: [0x80] },
      { name: 'two bytes, cut', input: [0xc3] },
      { name: 'three bytes, cut', input: [0xe2, 0x82] },
      { name: 'four bytes, cut', input: [0xf0, 0x9f, 0x92] },
      { name: 'slash in two bytes', input: [0xc0, 0xaf] },
      { name: 'slash in three bytes', input: [0xe0, 0x80, 0xaf] },
      { name: 'NUL in two bytes', input: [0xc0, 0x80] },
      { name: 'surrogate', input: [0xed, 0xa0, 0xbd] },
      { name: 'beyond U+10FFFF', input: [0xf4, 0x90, 0x80, 0x80] },
      { name: 'five bytes', input: [0xf8, 0x88, 0x80, 0x80, 0x80] },
      { name: 'a byte that never occurs', input: [0xfe] },
    ],
    'json/utf8/decoder-fatal.json',
    (corpus) => corpus.fatal_invalid,
  );

export interface ByteOrderMarks {
  bom: readonly number[];
  bytes: readonly number[];
  decoded: string;
  wrong_boms_as_garbage: Readonly<Record<string, readonly number[]>>;
}

/** The mark of UTF-8, marks of other encodings, and bytes without a mark with the text that they are. */
export const byteOrderMarks = (): readonly ByteOrderMarks[] =>
  withCorpus<ByteOrderMarks, { byte_order_marks: ByteOrderMarks }>(
    [
      {
        bom: [0xef, 0xbb, 0xbf],
        bytes: [0x61, 0xc3, 0xbc, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x92, 0xb8],
        decoded: 'aü€💸',
        wrong_boms_as_garbage: {
          'utf-16le': [0xff, 0xfe],
          'utf-16be': [0xfe, 0xff],
          'utf-32le': [0xff, 0xfe, 0x00, 0x00],
          'utf-7': [0x2b, 0x2f, 0x76, 0x38],
        },
      },
    ],
    'json/utf8/decoder-bom.json',
    (corpus) => [corpus.byte_order_marks],
  );

/** Texts with and without surrogates that belong to no pair. */
export const surrogateTexts = (): readonly string[] =>
  withCorpus<string, { cases: { input: string }[] }>(
    [
      'plain',
      '💸',
      'a💸b',
      '\ud83d',
      '\udcb8',
      'a\ud83db',
      '\udcb8\ud83d',
      '💸\ud83d',
      '\udcb8💸',
      '\ud83d\0',
    ],
    'json/utf8/encoder-surrogates.json',
    (corpus) => corpus.cases.map(({ input }) => input),
  );

/** Objects whose keys would change the prototype of a careless reader, and some whose keys only seem to. */
export const pollutingObjects = (): readonly string[] =>
  withCorpus<string, { vectors: string[] }>(
    [
      '{"__proto__":{"polluted":true}}',
      '{"__proto__":"text"}',
      '{"__proto__":{"isAdmin":true},"a":1}',
      '{"constructor":{"prototype":{"polluted":true}}}',
      '{"constructor":1}',
      '{"a":[{"__proto__":{"polluted":true}}]}',
      '{"a":{"constructor":{"prototype":{"polluted":true}}}}',
      String.raw`{"\u005f\u005fproto\u005f\u005f":{"polluted":true}}`,
      '{"prototype":{"polluted":true}}',
      '{"__proto":{"polluted":true}}',
      '{"isPrototypeOf":1,"propertyIsEnumerable":2}',
    ],
    'json/prototype_pollution.json',
    (corpus) => corpus.vectors,
  );
