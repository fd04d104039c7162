import { ASSETS, type Asset, NETWORKS, type Network, parseAmount } from '../money.ts';
import type { PayoutItemInput } from '../schemas/index.ts';

export const PAYOUT_FIELDS = ['address', 'amount', 'network', 'currency', 'real_name', 'memo'] as const;
export type PayoutField = (typeof PAYOUT_FIELDS)[number];

/** What a row says, as it was written; empty cells are left out. */
export type PayoutCells = Partial<Record<PayoutField, string>>;

/** What a file need not say in each row. */
export interface Defaults {
  currency?: Asset;
  network?: Network;
}

/** Somebody to pay. */
export interface Payout {
  currency: Asset;
  input: PayoutItemInput;
}

export interface CellFault {
  field: PayoutField;
  /** `it is missing` */
  what: string;
}

/** Of a value in a message. */
const SHOWN_MAX = 40;
/** A spreadsheet that opens what we export would run a cell that begins so. */
const FORMULA = /^[=+\-@\t\r]/;
const CONTROL = /\p{Cc}/u;
const LENGTHS_MAX = { address: 256, real_name: 500, memo: 128 } as const;

const known = <T extends string>(words: readonly T[], text: string | undefined): T | undefined =>
  words.find((word) => word === text);

/** A value within a message. */
export const short = (text: string): string => JSON.stringify(text.slice(0, SHOWN_MAX));

/**
 * What a row alone can tell; whether an address is one, the service says.
 * @returns whom it pays, or what is wrong with it, in the order of `PAYOUT_FIELDS`
 */
export function checkRow(cells: PayoutCells, defaults: Defaults): Payout | CellFault[] {
  const network = known(NETWORKS, cells.network?.toLowerCase() ?? defaults.network);
  const currency = known(ASSETS, cells.currency?.toUpperCase() ?? defaults.currency);
  const { address, amount, real_name, memo } = cells;
  const problems: Record<PayoutField, string | undefined> = {
    address: address === undefined ? 'it is missing' : textProblem('address', address),
    amount: amountProblem(amount),
    network: network === undefined ? wordProblem(NETWORKS, cells.network) : undefined,
    currency: currency === undefined ? wordProblem(ASSETS, cells.currency) : undefined,
    real_name: real_name === undefined ? undefined : textProblem('real_name', real_name),
    memo: memo === undefined ? undefined : textProblem('memo', memo),
  };
  const faults = PAYOUT_FIELDS.flatMap((field) => {
    const what = problems[field];
    return what === undefined ? [] : [{ field, what }];
  });
  if (faults.length > 0 || !address || !amount || !network || !currency) return faults;
  const optional = {
    ...(real_name === undefined ? {} : { real_name }),
    ...(memo === undefined ? {} : { memo }),
  };
  return { currency, input: { network, address, amount, ...optional } };
}

function textProblem(field: keyof typeof LENGTHS_MAX, text: string): string | undefined {
  if (FORMULA.test(text)) return `${JSON.stringify(text[0])} at its beginning makes a formula`;
  if (CONTROL.test(text)) return 'it has a line break or another control character';
  const max = LENGTHS_MAX[field];
  return text.length > max ? `it is longer than ${max} characters` : undefined;
}

function wordProblem(words: readonly string[], text: string | undefined): string {
  const problem = text === undefined ? 'it is missing; it is' : `${short(text)} is not`;
  return `${problem} one of ${words.join(', ')}`;
}

function amountProblem(text: string | undefined): string | undefined {
  if (text === undefined) return 'it is missing';
  try {
    parseAmount(text);
    return undefined;
  } catch {
    return `${short(text)} is not an amount such as 1200.50`;
  }
}
