import { parseTokens } from '@florin/contract/money';
import { ApiError, PageError } from './api.ts';

/** What somebody typed into a field of a form. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}

/** What fields of a form hold, by their names. */
export type Values<Name extends string> = Readonly<Record<Name, string>>;

/** What somebody typed into these fields, without the spaces around it. */
export const textsOf = <Name extends string>(fields: FormData, names: readonly Name[]): Values<Name> =>
  Object.fromEntries(names.map((name) => [name, textOf(fields, name).trim()])) as Values<Name>;

/** An address for mails, as people paste it. */
export const emailOf = (fields: FormData): string => textOf(fields, 'email').trim();

/** The field that an error is about, if it is one of these. */
export function fieldOf(error: Error | null, names: readonly string[]): string | undefined {
  const param = error instanceof ApiError || error instanceof PageError ? error.param : undefined;
  return names.find((name) => name === param);
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
