import {
  accountOfTron,
  encodeTronTransaction,
  type TronTransaction,
  tronTransactionId,
} from '@florin/signer/tron';
import { checkTrc20Address } from '../addresses/trc20.ts';
import type { PayerTransaction, PayerTransfer } from '../payer-wallets.ts';
import { balanceCall, constantCall, readConstantResult, transferCall } from './contract-call.ts';
import { estimateCalls, isReverting, tryCall } from './estimates.ts';
import type { TronFeed } from './feed.ts';
import { type PriceList, TRANSFER_BANDWIDTH, TRANSFER_ENERGY, withMargin } from './fees.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { readWord, unusable } from './node-answers.ts';
import { referenceOf } from './reference.ts';
import { readResources, readTrx } from './resources.ts';

/** From the newest block on: a person reads and confirms in this time. */
const VALID_MS = 300_000n;
/** 100 TRX, in sun: the page takes no transaction that may burn more. */
const FEE_LIMIT_MAX = 100_000_000n;

export interface PayerContext {
  network: TronNetwork;
  node: TronNode;
  feed: TronFeed;
  prices: PriceList;
}

/**
 * The transaction by which a payer's wallet pays a deposit address, as JSON that wallets take. It can be sent for some five minutes.
 *
 * @returns undefined where `from` is no wallet, or the token is not taken here
 * @throws ChainUnavailable
 */
export async function buildPayerTransfer(
  { network, node, feed, prices }: PayerContext,
  { from, to, asset, units }: PayerTransfer,
): Promise<PayerTransaction | undefined> {
  const token = network.tokens[asset]?.contract;
  if (token === undefined || !checkTrc20Address(from).ok) return undefined;
  const held = await readUnits(node, { owner: from, contract: token, data: balanceCall(from) });
  if (held < units) return { short: 'token', held };
  // The address may be new to the token by the time of the block. What is not used costs nothing.
  const call = { owner: from, contract: token, data: transferCall(to, units) };
  return await buildPayerCall({ node, feed, prices }, call, TRANSFER_ENERGY);
}

/** A number that a token answers, as of the newest block. @throws ChainUnavailable */
export async function readUnits(
  node: TronNode,
  { owner, contract, data }: { owner: string; contract: string; data: string },
): Promise<bigint> {
  const answer = await tryCall(node, constantCall(owner, contract, data));
  const { data: words } = readConstantResult(answer);
  if (words === undefined) throw unusable('a token tells no amount');
  return readWord(words, 'an amount');
}

/**
 * A call of a contract for a payer's wallet to sign. What it uses is the word of two endpoints: one alone could have it fail and burn its fee.
 *
 * @param least energy of such a call, as far as it is known
 * @throws ChainUnavailable
 */
export async function buildPayerCall(
  { node, feed, prices }: Omit<PayerContext, 'network'>,
  { owner, contract, data }: { owner: string; contract: string; data: string },
  least: bigint,
): Promise<Exclude<PayerTransaction, { short: 'token' }>> {
  const fields = constantCall(owner, contract, data);
  const snapshot = await feed.snapshot();
  const { height } = snapshot.final;
  const [estimate] = await estimateCalls(node, height, [fields]);
  if (estimate?.isDoubtful !== false && (await isReverting(node, fields, height)))
    return { refused: 'token' };
  const energy = estimate?.energy ?? least;
  const { energy: price, bandwidth } = await prices.read();
  const own = await readResources(node, owner, height);
  const burnt =
    (own.energy < energy ? (energy - own.energy) * price : 0n) +
    (own.bandwidth < TRANSFER_BANDWIDTH ? TRANSFER_BANDWIDTH * bandwidth : 0n);
  if ((await readTrx(node, owner)) < burnt) return { short: 'fee', coin: 'TRX' };
  const limit = withMargin(energy > least ? energy : least) * price;
  const { refBlockBytes, refBlockHash, second } = referenceOf(snapshot);
  return {
    transaction: jsonOf({
      refBlockBytes,
      refBlockHash,
      expiration: second + VALID_MS,
      timestamp: second,
      feeLimit: limit < FEE_LIMIT_MAX ? limit : FEE_LIMIT_MAX,
      contract: { kind: 'trigger', owner, contract, data: Uint8Array.from(Buffer.from(data, 'hex')) },
    }),
  };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const accountHex = (address: string) => `41${accountOfTron(address).slice(2).toLowerCase()}`;

/** As a node answers `triggersmartcontract`, which is what wallets sign. */
function jsonOf(tx: TronTransaction & { contract: { kind: 'trigger' } }): string {
  const raw = encodeTronTransaction(tx);
  const { owner, contract, data } = tx.contract;
  return JSON.stringify({
    visible: false,
    txID: hex(tronTransactionId(raw)),
    raw_data: {
      contract: [
        {
          parameter: {
            value: {
              data: hex(data),
              owner_address: accountHex(owner),
              contract_address: accountHex(contract),
            },
            type_url: 'type.googleapis.com/protocol.TriggerSmartContract',
          },
          type: 'TriggerSmartContract',
        },
      ],
      ref_block_bytes: hex(tx.refBlockBytes),
      ref_block_hash: hex(tx.refBlockHash),
      expiration: Number(tx.expiration),
      fee_limit: Number(tx.feeLimit),
      timestamp: Number(tx.timestamp),
    },
    raw_data_hex: hex(raw),
  });
}
