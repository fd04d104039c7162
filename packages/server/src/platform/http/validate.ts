import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fail } from '../fail.ts';
import { shorten } from '../secrets/shorten.ts';

type ShapeError = ReturnType<ReturnType<typeof Compile>['Errors']>[number];
/** Checks a value as it is, without coercion, default or removal. @throws Fail with `param` */
export type ShapeCheck = (value: unknown) => void;

/** `/items/0/quantity` → `items[0].quantity`. */
function paramOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  const unescaped = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return unescaped.reduce((path, step) => {
    // A repeatable parameter (`expand[]`) has its brackets in its name.
    if (/^\d+$/.test(step)) return path.endsWith('[]') ? path : `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}
const within = (base: string, name: string) => shorten(base === '' ? name : `${base}.${name}`);

function listed(names: unknown): string[] {
  return Array.isArray(names) ? names.map(String) : [];
}

function explain(error: ShapeError, schema: TSchema): Fail {
  const base = shorten(paramOf(error.instancePath));
  const params: Record<string, unknown> = { ...error.params };
  const missing = listed(params.requiredProperties)[0];
  if (error.keyword === 'required' && missing !== undefined) {
    const param = within(base, missing);
    return new Fail('parameter_missing', { message: `${param} is required.`, param });
  }
  const unknown = listed(params.additionalProperties)[0];
  if (error.keyword === 'additionalProperties' && unknown !== undefined) {
    const param = within(base, unknown);
    return new Fail('invalid_request', { message: `${param} is not a field of this call.`, param });
  }
  if (error.keyword === 'dependentRequired') {
    const param = within(base, String(params.property));
    const message = `${param} requires ${listed(params.dependencies).join(', ')} as well.`;
    return new Fail('invalid_request', { message, param });
  }
  const where = base === '' ? 'the request' : base;
  return new Fail('invalid_request', {
    message: `${where} ${reason(error, params, schema)}.`,
    ...(base === '' ? {} : { param: base }),
  });
}

function reason(error: ShapeError, params: Record<string, unknown>, schema: TSchema): string {
  if (error.keyword === 'enum') return `must be one of ${listed(params.allowedValues).join(', ')}`;
  if (error.keyword === 'pattern') {
    const example = exampleAt(schema, error.schemaPath);
    return `must match ${String(params.pattern)}${example === undefined ? '' : `, for example ${example}`}`;
  }
  return error.message;
}

/** The example that a schema gives at a path such as `#/properties/currency`. */
function exampleAt(schema: TSchema, schemaPath: string): string | undefined {
  let place: unknown = schema;
  for (const step of [...schemaPath.split('/').slice(1), 'examples', '0'])
    place = typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined;
  return typeof place === 'string' ? place : undefined;
}

/**
 * The most useful error: a missing field first, then an unknown field, then the first wrong value. A closed object
 * reports an unknown field twice; the vague report ("schema is false") is dropped.
 */
function mostUseful(errors: readonly ShapeError[]): ShapeError | undefined {
  const specific = errors.filter((error) => error.keyword !== 'boolean');
  const byKeyword = (keyword: string) => specific.find((error) => error.keyword === keyword);
  return byKeyword('required') ?? byKeyword('additionalProperties') ?? specific[0];
}

export function compileShape(schema: TSchema): ShapeCheck {
  const check = Compile(schema);
  return (value) => {
    if (check.Check(value)) return;
    const error = mostUseful(check.Errors(value));
    throw error === undefined
      ? new Fail('invalid_request', 'The request does not fit the schema of this call.')
      : explain(error, schema);
  };
}
