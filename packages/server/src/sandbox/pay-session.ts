import { randomBytes } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import type { Payment, PaymentOption, SessionPayInput } from '@florin/contract/schemas';
import { checkAddress } from '../chains/addresses/index.ts';
import { type PaidTransfer, testAddresses } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { getSession } from '../checkout/index.ts';
import { proveByText, textToSign } from '../checkout/wallet/index.ts';
import { scanJob } from '../payments/deposits/index.ts';
import { chooseOption, type MerchantRef, type PaymentDeps } from '../payments/index.ts';
import { currentOption, type PaymentView, readPayment, showPayment } from '../payments/reads/index.ts';
import { transact } from '../platform/db/index.ts';
import { invalidParam } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { enqueue } from '../platform/jobs/index.ts';

const FINAL_BLOCKS = 3;
const TIMEOUT_MS = 20_000;
const POLL_MS = 20;
/** An address index that no option gets: the default wallet of a merchant's payers. */
const PAYER_INDEX = 2 ** 31 - 1;

type PaidSession = Pick<Awaited<ReturnType<typeof getSession>>, 'session_id' | 'payment_id' | 'options'>;

/** Whom a simulated wallet takes itself to be asked by. */
const SIMULATED_URL = 'http://localhost';

/**
 * Plays the payer of a sandbox session: chooses an option and sends the money.
 *
 * @throws Fail `invalid_request` (param `network`, `amount`, `from`), `resource_not_found`
 */
export async function paySession(
  deps: PaymentDeps,
  caller: Caller,
  sessionId: string,
  input: SessionPayInput,
): Promise<Payment> {
  return await payAs(deps, caller, await getSession(deps.db, caller, sessionId), input);
}

/** A simulated payment. `at`: the option that receives it, if not the one of its own token. */
export interface Sent extends SessionPayInput {
  at?: PaymentOption;
}

/** As `paySession`, for a session that is already read. */
export async function payAs(
  deps: PaymentDeps,
  caller: MerchantRef,
  session: PaidSession,
  input: Sent,
): Promise<Payment> {
  const option = await receivingOption(deps, caller, session, input);
  const chain = deps.chains.sandbox(caller.merchantId, input.network);
  const from = await payerAddress(deps, caller, input);
  const amount = input.amount === undefined ? restOf(option.view) : BigInt(input.amount);
  const txId = await chain.pay({ transfers: split({ input, from, to: option.address, amount }) });
  if (input.connected === true) await proveSimulated(deps, caller, session, { network: input.network, from });
  const isFinal = input.final ?? true;
  if (isFinal) await chain.mine(FINAL_BLOCKS);
  await waitUntilSeen(deps, caller, { paymentId: session.payment_id, network: input.network, txId, isFinal });
  const view = await readPayment(deps.db, caller.merchantId, session.payment_id);
  return await showPayment(deps, caller, view);
}

/** The simulated wallet proves itself as any other: it signs the session's text. */
async function proveSimulated(
  deps: PaymentDeps,
  merchant: MerchantRef,
  session: PaidSession,
  { network, from }: { network: Network; from: string },
): Promise<void> {
  const page = { merchant, session };
  const asked = textToSign(deps, page, { publicUrl: SIMULATED_URL, network, account: from });
  if (asked === undefined) throw invalidParam('from', 'from is no wallet that could sign.');
  const signature = deps.chains.sandbox(merchant.merchantId, network).signText(from, asked.text);
  const { token } = asked;
  const outcome = await proveByText(deps, page, { publicUrl: SIMULATED_URL, token, signature });
  if (outcome === 'signature' || outcome === 'expired')
    throw new Error(`a simulated wallet was refused: ${outcome}`);
}

/** The requested option, or one of the same network for a wrong token. */
async function receivingOption(
  deps: PaymentDeps,
  caller: MerchantRef,
  session: PaidSession,
  { currency, network, at }: Sent,
): Promise<{ view: PaymentView; address: string }> {
  const onNetwork = session.options.filter((option) => option.network === network);
  const choice = at ?? onNetwork.find((option) => option.currency === currency) ?? onNetwork[0];
  if (choice === undefined) throw invalidParam('network', `This session has no option on ${network}.`);
  const view = await chooseOption(deps, caller, session, choice);
  const row = view.options.find((o) => o.network === network && o.currency === choice.currency);
  if (row === undefined) throw new Error('a chosen option must have an address');
  return { view, address: row.address };
}

/** @throws Fail `invalid_request` with param `amount` if nothing is left to pay */
function restOf(view: PaymentView): bigint {
  const option = currentOption(view);
  const sent = view.transactions
    .filter((t) => t.kind === 'counted' && t.status !== 'gone')
    .reduce((sum, t) => sum + t.amount, 0n);
  const rest = (option?.pay_amount ?? 0n) - sent;
  if (rest > 0n) return rest;
  throw invalidParam('amount', 'Nothing is left to pay: set an amount.');
}

async function payerAddress(
  deps: PaymentDeps,
  caller: MerchantRef,
  { from = '', network }: SessionPayInput,
): Promise<string> {
  const chain = deps.chains.sandbox(caller.merchantId, network);
  if (from === 'sanctioned') return testAddresses(network).risk_rejected;
  const index = from === 'new' ? PAYER_INDEX - 1 - (randomBytes(3).readUIntBE(0, 3) % 2 ** 24) : PAYER_INDEX;
  if (from === '' || from === 'new') return (await chain.depositAddress({ index })).address;
  const check = checkAddress(network, from, { allowProgramOwned: true });
  if (!check.ok) throw invalidParam('from', `from must be an address on ${network}.`);
  return check.canonical;
}

interface Sending {
  input: SessionPayInput;
  from: string;
  to: string;
  amount: bigint;
}

/** Splits the amount into the transfers of one transaction. @throws Fail with param `transfers` */
function split({ input, from, to, amount }: Sending): PaidTransfer[] {
  const { transfers = 1, token = 'listed', currency } = input;
  const count = BigInt(transfers);
  if (amount < count) throw invalidParam('transfers', 'Each transfer must move at least one unit.');
  const what = token === 'fake' ? { asset: null, token: `fake ${currency}` } : { asset: currency };
  return Array.from({ length: transfers }, (_, i): PaidTransfer => {
    const part = amount / count + (BigInt(i) < amount % count ? 1n : 0n);
    return { from, to, amount: part, ...what };
  });
}

async function waitUntilSeen(
  deps: PaymentDeps,
  { merchantId }: MerchantRef,
  sent: { paymentId: string; network: Network; txId: string; isFinal: boolean },
): Promise<void> {
  const endsAtMs = deps.clock.nowMs() + TIMEOUT_MS;
  for (;;) {
    const { transactions } = await readPayment(deps.db, merchantId, sent.paymentId);
    const own = transactions.filter((t) => t.tx_id === sent.txId);
    if (own.length > 0 && own.every((t) => !sent.isFinal || t.status === 'final')) return;
    if (deps.clock.nowMs() >= endsAtMs || !(await isReadable(deps, merchantId, sent.network))) return;
    await transact(deps.db, (tx) => enqueue(tx, [scanJob(merchantId, sent.network, deps.clock.nowMs())]));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** False during a simulated outage, whose end nobody waits for. */
async function isReadable(deps: PaymentDeps, merchantId: string, network: Network): Promise<boolean> {
  try {
    await deps.chains.sandbox(merchantId, network).head();
    return true;
  } catch (error) {
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}
