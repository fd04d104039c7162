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
    // A parameter that may come again (`expand[]`) says so in its name already.
    if (/^\d+$/.test(step)) return path.endsWith('[]') ? path : `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}
const within = (base: string, name: string) => shorten(base === '' ? name : `${base}.${name}`);

function listed(names: unknown): string[] {
  return Array.isArray(names) ? names.map(String) : [];
}

function explain(error: ShapeError): Fail {
  const base = shorten(paramOf(error.instancePath));
  const params = error.params as Record<string, unknown>;
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
    const message = `${param} goes with ${listed(params.dependencies).join(', ')}.`;
    return new Fail('invalid_request', { message, param });
  }
  const where = base === '' ? 'the request' : base;
  return new Fail('invalid_request', {
    message: `${where} ${reason(error, params)}.`,
    ...(base === '' ? {} : { param: base }),
  });
}

function reason(error: ShapeError, params: Record<string, unknown>): string {
  if (error.keyword === 'enum') return `must be one of ${listed(params.allowedValues).join(', ')}`;
  if (error.keyword === 'pattern')
    return 'has a form that is not allowed here (see the documentation of the field)';
  return error.message;
}

/**
 * What tells the caller most: what is missing first, then a field that is not known, then the first wrong value.
 * A closed object reports an unknown field twice; the vague one ("schema is false") is dropped.
 */
function mostTelling(errors: readonly ShapeError[]): ShapeError | undefined {
  const telling = errors.filter((error) => error.keyword !== 'boolean');
  const byKeyword = (keyword: string) => telling.find((error) => error.keyword === keyword);
  return byKeyword('required') ?? byKeyword('additionalProperties') ?? telling[0];
}

export function compileShape(schema: TSchema): ShapeCheck {
  const check = Compile(schema);
  return (value) => {
    if (check.Check(value)) return;
    const error = mostTelling(check.Errors(value));
    throw error === undefined
      ? new Fail('invalid_request', 'The request has a wrong shape.')
      : explain(error);
  };
}
