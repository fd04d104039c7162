import { parseTokens } from '@florin/contract/money';
import { PageError } from './api.ts';

/** What somebody typed into a field of a form. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}

/** Tokens that somebody typed, in the smallest unit; undefined for an empty field. @throws PageError */
export function tokensOf(fields: FormData, name: string): number | undefined {
  const typed = textOf(fields, name).trim();
  if (typed === '') return undefined;
  try {
    return Number(parseTokens(typed));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PageError(`This is not an amount: ${error.message}.`, name);
  }
}
