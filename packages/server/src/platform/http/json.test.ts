import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { again, expectLinear } from '../../../../../test/linear.ts';
import {
  byteOrderMarks,
  invalidUtf8,
  jsonDocuments,
  pollutingObjects,
  surrogateTexts,
} from '../../../../../test/own-cases/json.ts';
import { naughtyTexts } from '../../../../../test/own-cases/text.ts';
import { JsonRefused, parseStrictJson } from './json.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The refusal of a body, or undefined where it is taken. Any other error fails the test. */
function refusal(body: Uint8Array | string): JsonRefused | undefined {
  try {
    parseStrictJson(typeof body === 'string' ? utf8(body) : body);
    return undefined;
  } catch (error) {
    if (error instanceof JsonRefused) return error;
    throw error;
  }
}

describe('what is taken equals JSON.parse', () => {
  test.each([
    ['{}'],
    [' \t\r\n{ "a" : [ 1 , -2 , 0 , 1.5 , -0.25 , true , false , null , "" ] } \n'],
    ['{"a":{"b":{"a":1}},"b":[{"a":1},{"a":1}],"":{"":0}}'],
    [String.raw`{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83e\udd8a","\u0061b":"\\"}`],
    ['{"max":9007199254740991,"min":-9007199254740991}'],
    ['{"a":"1e5, -0 and {\\"__proto__\\":1} in text are text"}'],
    ['{"__proto":1,"proto__":2,"Constructor":3,"prototype":4,"toString":"x"}'],
    [`{"a":${'['.repeat(31)}${']'.repeat(31)}}`],
  ])('%s', (text) => {
    expect(parseStrictJson(utf8(text))).toEqual(JSON.parse(text));
  });

  const text = fc.string({ unit: 'grapheme' }).map((made) => made.replaceAll('\0', ''));
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((made) => !/e/.test(String(made)) && made % 1 !== 0),
  );
  const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      number,
      fc.boolean(),
      fc.constant(null),
      tie('object'),
      fc.array(tie('value')),
    ),
    object: fc.dictionary(
      text.filter((key) => key !== '__proto__' && key !== 'constructor'),
      tie('value'),
      { noNullPrototype: true },
    ),
  }));

  test('for random objects in any layout', () => {
    fc.assert(
      fc.property(json.object, fc.constantFrom('', '  ', '\t', '\n '), (object, indent) => {
        const body = JSON.stringify(object, null, indent);
        expect(parseStrictJson(utf8(body))).toEqual(JSON.parse(body));
      }),
      { numRuns: 500 },
    );
  });

  test('for random objects written with escapes throughout', () => {
    fc.assert(
      fc.property(json.object, (object) => {
        const body = JSON.stringify(object).replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(parseStrictJson(utf8(body))).toEqual(object);
      }),
    );
  });

  test('and damaged bytes are refused or read as JSON.parse reads them', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), cut: fc.nat({ max: 3 }) });
    fc.assert(
      fc.property(json.object, fc.array(damage, { minLength: 1, maxLength: 4 }), (object, damages) => {
        const bytes = [...utf8(JSON.stringify(object))];
        for (const { at, byte, cut } of damages) bytes.splice(at % bytes.length, cut, byte);
        const body = Uint8Array.from(bytes);
        if (refusal(body) === undefined) {
          expect(parseStrictJson(body)).toEqual(JSON.parse(new TextDecoder().decode(body)));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('D2: what is refused, why and where', () => {
  test.each<[body: string, reason: string, path?: string]>([
    ['', 'the body is empty'],
    ['  ', 'the body must be one JSON object'],
    ['[]', 'the body must be one JSON object'],
    ['"text"', 'the body must be one JSON object'],
    ['null', 'the body must be one JSON object'],
    ['{}{}', 'the body is not valid JSON (at character 2)'],
    ['{"a":1,}', 'the body is not valid JSON (at character 7)'],
    ['{"a":"\0"}', 'the body is not valid JSON (at character 6)'],
    ['\ufeff{}', 'the body begins with a byte order mark'],
    ['{"a":1,"a":1}', 'the key appears twice', 'a'],
    ['{"a":1,"\\u0061":2}', 'the key appears twice', 'a'],
    ['{"items":[{},{"quantity":1,"b":{},"quantity":2}]}', 'the key appears twice', 'items[1].quantity'],
    ['{"__proto__":1}', 'the key __proto__ is not allowed', '__proto__'],
    ['{"a":[[{"constructor":1}]]}', 'the key constructor is not allowed', 'a[0][0].constructor'],
    [String.raw`{"a":"\u0000"}`, 'text with a NUL character', 'a'],
    [String.raw`{"a":{"b":[1,"x\u0000"]}}`, 'text with a NUL character', 'a.b[1]'],
    [String.raw`{"a":{"b\u0000":1}}`, 'text with a NUL character', 'a'],
    [String.raw`{"a":"\ud800"}`, 'text with a lone surrogate', 'a'],
    [String.raw`{"a":"\udd8a\ud83e"}`, 'text with a lone surrogate', 'a'],
    [String.raw`{"\udfaa":1}`, 'text with a lone surrogate'],
    [`{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'nested deeper than 32 levels'],
  ])('%j: %s', (body, reason, path) => {
    expect(refusal(body)).toMatchObject({ reason, path });
  });

  test.each([
    ['9007199254740992', 'an integer beyond ±(2^53−1)'],
    ['-9007199254740992', 'an integer beyond ±(2^53−1)'],
    ['1'.repeat(400), 'an integer beyond ±(2^53−1)'],
    ['-0', 'write 0 without a sign'],
    ['10.0', 'a whole number written with a fraction'],
    ['-0.0', 'a whole number written with a fraction'],
    ['1.00000000000000000001', 'a whole number written with a fraction'],
    [`0.${'0'.repeat(400)}1`, 'a whole number written with a fraction'],
    ['1e1', 'a number with an exponent'],
    ['1E+2', 'a number with an exponent'],
    ['1.5e1', 'a number with an exponent'],
    ['1e400', 'a number with an exponent'],
    [`${'9'.repeat(400)}.5`, 'a number too large to hold'],
  ])('D3: the number %s: %s', (number, reason) => {
    expect(refusal(`{"limit":${number}}`)).toMatchObject({
      reason,
      path: 'limit',
      message: `limit: ${reason}`,
    });
    expect(refusal(`{"list":[0,${number}]}`)).toMatchObject({ reason, path: 'list[1]' });
  });

  test('D4: 100,000 brackets, closed or not, are refused and nothing overflows', () => {
    const many = 100_000;
    expect(refusal('['.repeat(many))).toBeDefined();
    expect(refusal('{"a":'.repeat(many))).toBeDefined();
    expect(refusal(`{"a":${'['.repeat(many)}`)).toBeDefined();
    expect(refusal(`{"a":${'['.repeat(many)}${']'.repeat(many)}}`)?.reason).toBe(
      'it holds more than 5000 values',
    );
    expect(refusal(`${'{"a":'.repeat(many)}1${'}'.repeat(many)}`)?.reason).toBe(
      'it holds more than 5000 values',
    );
  });
});

describe('D2, D5: bad inputs', () => {
  const documents = jsonDocuments();

  test('documents that are JSON, that are not, and that the grammar leaves open', () => {
    expect(documents.length).toBeGreaterThan(20);
    for (const { name, expect: verdict, bytes, refusedFor } of documents) {
      const refused = refusal(bytes);
      if (refused === undefined) expect(parseStrictJson(bytes)).toEqual(JSON.parse(bytes.toString('utf8')));
      if (verdict === 'reject') expect(refused, name).toBeDefined();
      const isObject = bytes.toString('utf8').trimStart().startsWith('{');
      if (verdict === 'accept')
        expect(refused?.reason, name).toBe(isObject ? refusedFor : 'the body must be one JSON object');
    }
  });

  test('the same documents as the value of a field: refused, or read as JSON.parse reads them', () => {
    const rules = /twice|not allowed|NUL|surrogate|integer|number|sign|UTF-8|levels/;
    let taken = 0;
    for (const { name, expect: verdict, bytes } of documents) {
      const body = Buffer.concat([utf8('{"value":'), bytes, utf8('}')]);
      const refused = refusal(body);
      if (refused === undefined) {
        expect(parseStrictJson(body)).toEqual(JSON.parse(body.toString('utf8')));
        taken++;
      }
      if (refused !== undefined && verdict === 'accept') expect(refused.reason, name).toMatch(rules);
    }
    expect(taken).toBeGreaterThan(documents.length / 5);
  });

  const quoted = (bytes: readonly number[]) => Uint8Array.from([...utf8('{"a":"'), ...bytes, ...utf8('"}')]);

  test('invalid UTF-8 inside a string is refused', () => {
    for (const { name, input } of invalidUtf8())
      expect(refusal(quoted(input))?.reason, name).toBe('the body is not valid UTF-8');
    const euro = [...utf8('€')];
    expect(parseStrictJson(quoted(euro))).toEqual({ a: '€' });
    expect(refusal(quoted(euro.slice(0, 2)))).toBeDefined();
  });

  test('a byte order mark before the body is refused, in every encoding', () => {
    const marked = (mark: readonly number[]) => Uint8Array.from([...mark, ...utf8('{"a":1}')]);
    for (const marks of byteOrderMarks()) {
      expect(refusal(marked(marks.bom))?.reason).toBe('the body begins with a byte order mark');
      for (const garbage of Object.values(marks.wrong_boms_as_garbage))
        expect(refusal(marked(garbage))).toBeDefined();
      expect(parseStrictJson(quoted(marks.bytes))).toEqual({ a: marks.decoded });
    }
  });

  test('text with a lone surrogate or NUL is refused as an escape, the rest is read back', () => {
    for (const input of surrogateTexts()) {
      const sound = input.isWellFormed() && !input.includes('\0');
      const body = JSON.stringify({ a: input });
      expect(refusal(body) === undefined).toBe(sound);
      if (sound) expect(parseStrictJson(utf8(body))).toEqual({ a: input });
    }
  });

  test('D5: prototype pollution leaves no trace, and the two poisoning keys are refused in every spelling', () => {
    for (const text of pollutingObjects()) {
      const poisoned = /__proto__|\\u005f\\u005fproto|constructor/.test(text);
      const refused = refusal(text);
      expect(refused !== undefined, text).toBe(poisoned);
      expect(refusal(`{"metadata":${text}}`) !== undefined, text).toBe(poisoned);
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('D8: every naughty string is read back unchanged, as value and as key', () => {
    for (const naughty of naughtyTexts()) {
      const body = JSON.stringify({ [`key ${naughty}`]: naughty });
      expect(parseStrictJson(utf8(body))).toEqual({ [`key ${naughty}`]: naughty });
    }
  });
});

test('a body of more values than any call takes is refused before one of them is made', () => {
  const fields = (count: number) => `{${Array.from({ length: count }, (_, at) => `"f${at}":0`).join(',')}}`;
  const reason = 'it holds more than 5000 values';
  expect(refusal(fields(5_001))?.reason).toBe(reason);
  expect(refusal(fields(4_999))).toBeUndefined();
  expect(refusal(`{"a":[${'{},'.repeat(5_000)}{}]}`)?.reason).toBe(reason);
  expect(refusal(`{"a":${'['.repeat(5_001)}`)?.reason).toBe(reason);
  expect(refusal(`{"a":"${',[{'.repeat(5_000)}"}`)).toBeUndefined();
  expect(refusal(`{"a":"${',[{'.repeat(5_000)}`)?.reason).toMatch(/not valid JSON/);
});

test('a path longer than any of ours is cut', () => {
  expect(refusal(`{"${'x'.repeat(1_000)}":1e1}`)?.path).toBe(`${'x'.repeat(199)}…`);
});

const READ_AT_WORST: [what: string, worst: (length: number) => string][] = [
  ['many values', again('"a":0,')],
  ['escapes in one text', (length) => `{"a":"${again('\\"')(length - 9)}"}`],
  ['backslashes', (length) => `{"a":"${again('\\\\')(length - 9)}"}`],
  ['unclosed backslashes', (length) => `{"a":"${again('\\')(length)}`],
  [
    'many texts with escapes',
    (length) =>
      `{"a":[${Array.from({ length: 4_000 }, () => `"\\n${'x'.repeat(Math.ceil(length / 4_000))}"`).join(',')}]}`,
  ],
  ['a long number', (length) => `{"a":${'9'.repeat(length)}}`],
  ['a long fraction', (length) => `{"a":0.${'9'.repeat(length)}}`],
  ['white space', (length) => `{${' '.repeat(length)}}`],
  ['depth', again('{"a":')],
];
test.each(READ_AT_WORST)('%s: reading costs no more than the length', async (_what, worst) => {
  await expectLinear(worst, refusal);
});

test('a character at the boundary of a million bytes is one character, and half a character is refused', () => {
  const long = (text: string) => Buffer.from(`{"a":"${'x'.repeat(1_000_000 - 8)}${text}"}`);
  expect(parseStrictJson(long('€€'))).toEqual({ a: `${'x'.repeat(1_000_000 - 8)}€€` });
  const bytes = long('€€');
  expect(() => parseStrictJson(bytes.subarray(0, 1_000_002))).toThrow(/not valid UTF-8/);
});

test('a text of 1 MiB is kept in the heap', () => {
  const body = Buffer.from(`{"a":"${'x'.repeat(1_048_560)}"}`);
  const before = process.memoryUsage().external;
  parseStrictJson(body);
  expect(process.memoryUsage().external - before).toBeLessThan(500_000);
});
