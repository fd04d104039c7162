import { Fail } from '../platform/fail.ts';
import { REFUSALS } from './tables.ts';

// What people type, at the command line and in the console.

/** `401`, or `4xx`, from the first to the last status. @throws Fail `invalid_request` */
export function readStatusRange(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const hundreds = /^([1-5])xx$/i.exec(text)?.[1];
  if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99];
  if (/^[1-5]\d\d$/.test(text)) return [Number(text), Number(text)];
  throw new Fail('invalid_request', {
    message: 'The status must be one such as 401, or 4xx.',
    param: 'status',
  });
}

/** @throws Fail `invalid_request` for what is no reason to refuse a signature */
export function readRefusal(text: string | undefined): string | undefined {
  if (text === undefined || REFUSALS.some((known) => known === text)) return text;
  throw new Fail('invalid_request', {
    message: `The refusal must be one of ${REFUSALS.join(', ')}.`,
    param: 'refusal',
  });
}
