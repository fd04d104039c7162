import { AMOUNT_LENGTH_MAX, type Asset, type Network, parseAmount } from '@florin/contract/money';
import type { PayoutItemInput, ValidationError } from '@florin/contract/schemas';
import type { Db } from '../platform/db/index.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import { checkRecipient, type FindUnpayable, type Screen, UNPAYABLE } from '../transfers/recipients/index.ts';
import { type FeeRule, feeFor } from './settings.ts';
import type { Sized } from './states.ts';

export interface ItemRules extends FeeRule {
  tokens: readonly string[];
  allowProgramOwned: boolean;
}

/** The settings and data that items are checked against. */
export interface CheckContext {
  db: Db;
  merchant: { merchantId: string; mode: MerchantMode };
  currency: Asset;
  /** The batch's network: that of its first item at creation. */
  network: Network;
  rules: ItemRules;
  screen: Screen;
  findUnpayable: FindUnpayable;
  stage: 'creation' | 'execution';
}

export interface CheckedItem extends Sized {
  index: number;
  input: PayoutItemInput;
  /** The canonical spelling of the address. */
  canonical: string;
}

const finding = (
  index: number,
  field: 'address' | 'network',
  code: ValidationError['code'],
  message: string,
): ValidationError => ({
  field: `items[${index}].${field}`,
  code,
  message,
});

/** The findings from an item's fields alone, without the database. */
function inspect(
  item: PayoutItemInput,
  index: number,
  context: CheckContext,
): { errors: ValidationError[]; canonical: string } {
  const { rules, currency, network } = context;
  const { canonical, fault } = checkRecipient(item.network, item.address, rules);
  const errors: ValidationError[] = [];
  if (item.network !== network) {
    errors.push(
      finding(index, 'network', 'network_mismatch', `The batch is on ${network}; use a batch of its own.`),
    );
  }
  if (!rules.tokens.includes(`${currency}:${item.network}`)) {
    const message = `${currency} is not paid out on ${item.network}.`;
    errors.push(finding(index, 'network', 'token_not_supported', message));
  }
  if (fault !== undefined) errors.push(finding(index, 'address', 'address_invalid', fault));
  return { errors, canonical };
}

/** Above the maximum of any batch, which a longer text exceeds whatever its digits are. */
const ABOVE_ANY_LIMIT = 10n ** BigInt(AMOUNT_LENGTH_MAX);

/** An item's amount, whose form its schema has checked, in base units. */
const sizeOf = (text: string) => (text.length > AMOUNT_LENGTH_MAX ? ABOVE_ANY_LIMIT : parseAmount(text));

/**
 * Checks items and computes their fees. A finding makes its item invalid and never refuses the request.
 */
export async function checkItems(
  inputs: readonly { index: number; input: PayoutItemInput }[],
  context: CheckContext,
): Promise<CheckedItem[]> {
  const inspected = inputs.map(({ index, input }) => ({ index, input, ...inspect(input, index, context) }));
  const clean = inspected.filter((item) => item.errors.length === 0);
  const addresses = [...new Set(clean.map((item) => item.canonical))];
  const refusalOf = await findRefusals(addresses, context);
  return inspected.map(({ index, input, errors, canonical }) => {
    const amount = sizeOf(input.amount);
    const refusal = errors.length === 0 ? refusalOf(canonical) : undefined;
    return {
      index,
      input,
      canonical,
      amount,
      fee: feeFor(context.rules, input.network, amount),
      errors: refusal === undefined ? errors : [finding(index, 'address', ...refusal)],
    };
  });
}

type Refusal = [code: ValidationError['code'], message: string];

/** Screens canonical addresses against the risk list and addresses that pay nobody. */
async function findRefusals(
  addresses: readonly string[],
  context: CheckContext,
): Promise<(address: string) => Refusal | undefined> {
  if (addresses.length === 0) return () => undefined;
  const { db, merchant, network, stage, screen, findUnpayable } = context;
  const sanctioned = await screen(db, merchant.mode, { network, addresses, stage });
  const unpayable = await findUnpayable(db, merchant, { network, addresses });
  return (address) => {
    if (sanctioned.has(address)) return ['address_risk', 'The address is on the risk list.'];
    return unpayable.has(address) ? ['address_invalid', UNPAYABLE] : undefined;
  };
}
