import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

const OTHER_SHAPE = 'it has another shape.';

type Check = ReturnType<typeof Compile>;
const checks = new WeakMap<TSchema, Check>();

/**
 * Reads JSON of that shape; keys that it does not name are refused.
 *
 * @param fail makes the error to throw from one line
 */
export function checkShape<const Shape extends TSchema>(
  shape: Shape,
  text: string,
  fail: (fault: string) => Error,
): Static<Shape> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fail('it is not JSON.');
  }
  return shapedAs(shape, value, fail);
}

/** The value, which is of that shape. @param fail makes the error to throw from one line */
export function shapedAs<const Shape extends TSchema>(
  shape: Shape,
  value: unknown,
  fail: (fault: string) => Error,
): Static<Shape> {
  if (isOf(shape, value)) return value;
  throw fail(faultOf(shape, value) ?? OTHER_SHAPE);
}

export function isOf<const Shape extends TSchema>(shape: Shape, value: unknown): value is Static<Shape> {
  return checkOf(shape).Check(value);
}

function checkOf(shape: TSchema): Check {
  const check = checks.get(shape) ?? Compile(shape);
  checks.set(shape, check);
  return check;
}

/** One line, where the value is not of that shape. */
function faultOf(shape: TSchema, value: unknown): string | undefined {
  const check = checkOf(shape);
  if (check.Check(value)) return undefined;
  const errors = check.Errors(value).filter(({ keyword }) => keyword !== 'boolean');
  const error =
    errors.find(({ keyword }) => keyword === 'required') ??
    errors.find(({ keyword }) => keyword === 'additionalProperties') ??
    errors[0];
  if (error === undefined) return OTHER_SHAPE;
  const params: Record<string, unknown> = { ...error.params };
  const at = error.instancePath.slice(1).replaceAll('/', '.');
  const within = (names: unknown) =>
    [at, String(Array.isArray(names) ? names[0] : names)].filter(Boolean).join('.');
  if (error.keyword === 'required') return `${within(params.requiredProperties)} is missing.`;
  if (error.keyword === 'additionalProperties')
    return `${within(params.additionalProperties)} is not known here: take it out.`;
  const described = descriptionAt(shape, error.schemaPath);
  return `${at === '' ? 'it' : at} ${described === undefined ? error.message : `must be ${described}`}.`;
}

/** The description of the schema that refused: the last one on a path such as `#/properties/payouts/properties/per_day`. */
function descriptionAt(shape: TSchema, schemaPath: string): string | undefined {
  let found: unknown = shape;
  for (const step of schemaPath.split('/').slice(1)) {
    const next: unknown = typeof found === 'object' && found !== null ? Reflect.get(found, step) : undefined;
    if (typeof next !== 'object' || next === null) break;
    found = next;
  }
  if (typeof found !== 'object' || found === null || !('description' in found)) return undefined;
  return typeof found.description === 'string' ? found.description : undefined;
}
