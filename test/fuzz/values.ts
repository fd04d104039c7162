import fc from 'fast-check';
import type { Schema } from './document.ts';

/** Texts that mean something to a handler, by the name of the field that takes them. */
export type Hints = Readonly<Record<string, readonly string[]>>;

export interface ValueContext {
  components: Readonly<Record<string, Schema>>;
  hints: Hints;
}

/** Where a schema sets no end: long enough to find what breaks, short enough to be quick. */
const LENGTH_MAX = 300;
const ITEMS_USUAL = 3;
/** Characters that take one, two, three and four bytes, several of them looking like one, and one that is turned around. */
const UNITS = [
  'a',
  'ß',
  'אב',
  '字',
  '💸',
  'e\u0301',
  '👨‍👩‍👧',
  '\u202e',
  "'",
  '"',
  '\\',
  '<',
  '%',
  '\r\n',
  ' ',
];

const storable = (text: string) => text.isWellFormed() && !text.includes('\0');
const points = (text: string) => Array.from(text).length;

/** Values that fit a schema. @throws Error for a keyword that it does not know */
export function valuesOf(context: ValueContext, schema: Schema, name = ''): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const component = context.components[schema.$ref.split('/').at(-1) ?? ''];
    if (component === undefined) throw new Error(`${schema.$ref} is not in the document`);
    return valuesOf(context, component, name);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valuesOf(context, one, name)));
  switch (schema.type ?? 'none') {
    case 'object':
      return objectsOf(context, schema);
    case 'array':
      return arraysOf(context, schema, name);
    case 'string':
      return textsOf(schema, context.hints[name] ?? []);
    case 'integer':
      return integersOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`the generator does not know this schema: ${JSON.stringify(schema)}`);
  }
}

function objectsOf(context: ValueContext, schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const values = Object.fromEntries(fields.map(([key, inner]) => [key, valuesOf(context, inner, key)]));
  const { maxProperties = fields.length } = schema;
  return fc
    .record(values, { requiredKeys: schema.required ?? [], noNullPrototype: true })
    .map((made) => Object.fromEntries(Object.entries(made).slice(0, maxProperties)));
}

function arraysOf(context: ValueContext, schema: Schema, name: string): fc.Arbitrary<unknown> {
  const { minItems = 0, maxItems = 20 } = schema;
  const item = valuesOf(context, schema.items ?? {}, name);
  if (schema.uniqueItems === true)
    return fc.uniqueArray(item, {
      minLength: minItems,
      maxLength: Math.min(maxItems, minItems + ITEMS_USUAL),
      selector: (value) => JSON.stringify(value),
    });
  const usual = fc.array(item, {
    minLength: minItems,
    maxLength: Math.min(maxItems, minItems + ITEMS_USUAL),
  });
  // Two different entries suffice for a full list: only its length is of interest.
  const full = fc.tuple(item, item).map((two) => Array.from({ length: maxItems }, (_, at) => two[at % 2]));
  return fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: full });
}

function textsOf(schema: Schema, hints: readonly string[]): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = LENGTH_MAX, pattern } = schema;
  const allowed = new RegExp(pattern ?? '', 'u');
  const fits = (text: string) =>
    allowed.test(text) && points(text) >= minLength && points(text) <= maxLength && storable(text);
  const good = hints.filter(fits);
  const hinted = good.length === 0 ? [] : [{ weight: 5, arbitrary: fc.constantFrom(...good) }];
  if (pattern !== undefined) {
    return fc.oneof({ weight: 2, arbitrary: fc.stringMatching(allowed).filter(fits) }, ...hinted);
  }
  const free = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, LENGTH_MAX) });
  const ofUnits = fc.string({
    unit: fc.constantFrom(...UNITS),
    minLength,
    maxLength: Math.min(maxLength, 20),
  });
  const ends = [minLength, maxLength].flatMap((length) => ['x', '💸'].map((one) => one.repeat(length)));
  return fc.oneof(free.filter(fits), ofUnits.filter(fits), fc.constantFrom(...ends.filter(fits)), ...hinted);
}

function integersOf({ minimum = -(2 ** 31), maximum = 2 ** 31 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: maximum }),
    fc.constantFrom(minimum, maximum),
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 100) }),
  );
}
