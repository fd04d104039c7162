import { IsArray, IsInteger, type TObject, type TSchema } from 'typebox';
import { Fail } from '../fail.ts';
import { shorten } from '../secrets/shorten.ts';

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

function decode(text: string, param: string | undefined): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Fail('invalid_request', {
      message: 'The query is not valid percent-encoded UTF-8.',
      ...(param === undefined ? {} : { param }),
    });
  }
}

function readValue(schema: TSchema | undefined, text: string, param: string): unknown {
  if (text === '') throw new Fail('invalid_request', { message: `${param} is empty.`, param });
  if (text.includes('\0'))
    throw new Fail('invalid_request', { message: `${param} holds a NUL character.`, param });
  if (!IsInteger(schema)) return text;
  if (WHOLE.test(text)) return Number(text);
  throw new Fail('invalid_request', { message: `${param} must be a whole number in plain digits.`, param });
}

/**
 * Reads the query of a URL as its schema declares it. Whole decimal integers are the only text that becomes a number;
 * undeclared, repeated and empty parameters are refused, as they would have no effect. A parameter that is declared as a
 * list (`expand[]`) may be repeated.
 *
 * @throws Fail `invalid_request` with `param`
 */
export function readQuery(url: string, schema: TObject | undefined): Record<string, unknown> {
  const mark = url.indexOf('?');
  const text = mark === -1 ? '' : url.slice(mark + 1);
  const declared = schema?.properties ?? {};
  const values: Record<string, unknown> = {};
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), undefined);
    if (!Object.hasOwn(declared, name)) {
      const param = shorten(name);
      throw new Fail('invalid_request', { message: `${param} is not a parameter of this call.`, param });
    }
    const ofParameter = declared[name];
    const isRepeatable = IsArray(ofParameter);
    if (Object.hasOwn(values, name) && !isRepeatable) {
      throw new Fail('invalid_request', { message: `${name} is given more than once.`, param: name });
    }
    const value = readValue(ofParameter, decode(equals === -1 ? '' : pair.slice(equals + 1), name), name);
    const before = values[name];
    values[name] = isRepeatable ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  return values;
}
