import {
  accountOfTron,
  encodeTronTransaction,
  type TronTransaction,
  tronTransactionId,
} from '@florin/signer/tron';
import { checkTrc20Address } from '../addresses/trc20.ts';
import type { PayerTransaction, PayerTransfer } from '../payer-wallets.ts';
import {
  balanceCall,
  constantCall,
  readConstantResult,
  transferCall,
  UNKNOWN_CALL,
} from './contract-call.ts';
import type { TronFeed } from './feed.ts';
import { type PriceList, TRANSFER_ENERGY, withMargin } from './fees.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode } from './node.ts';
import { orUnavailable, readWord, tryRead, unusable } from './node-answers.ts';
import { readReference } from './reference.ts';
import { readEnergy, readTrx } from './resources.ts';

/** From the newest block on: a person reads and confirms in this time. */
const VALID_MS = 300_000n;
/** 100 TRX, in sun: the page takes no transaction that may burn more. */
const FEE_LIMIT_MAX = 100_000_000n;

interface Context {
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
  { network, node, feed, prices }: Context,
  { from, to, asset, units }: PayerTransfer,
): Promise<PayerTransaction | undefined> {
  const token = network.tokens[asset]?.contract;
  if (token === undefined || !checkTrc20Address(from).ok) return undefined;
  const ask = async (data: string) =>
    await orUnavailable(
      node.call(ofView('head', 'triggerconstantcontract'), [constantCall(from, token, data)]),
    );
  const { data: balance } = readConstantResult(await ask(balanceCall(from)));
  if (balance === undefined) throw unusable('a token tells no balance');
  const held = readWord(balance, 'a balance');
  if (held < units) return { short: 'token', held };
  const data = transferCall(to, units);
  const answer = await ask(data);
  const tried = tryRead(() => readConstantResult(answer)) ?? UNKNOWN_CALL;
  const energy = tried.data === undefined ? TRANSFER_ENERGY : tried.energy;
  const { energy: price } = await prices.read();
  const own = await readEnergy(node, from);
  const burnt = own < energy ? (energy - own) * price : 0n;
  if ((await readTrx(node, from)) < burnt) return { short: 'fee', coin: 'TRX' };
  // The address may be new to the token by the time of the block. What is not used costs nothing.
  const most = energy > TRANSFER_ENERGY ? energy : TRANSFER_ENERGY;
  const limit = withMargin(most) * price;
  const { final } = await feed.snapshot();
  const { refBlockBytes, refBlockHash, second } = await readReference(node, final);
  return {
    transaction: jsonOf({
      refBlockBytes,
      refBlockHash,
      expiration: second + VALID_MS,
      timestamp: second,
      feeLimit: limit < FEE_LIMIT_MAX ? limit : FEE_LIMIT_MAX,
      contract: {
        kind: 'trigger',
        owner: from,
        contract: token,
        data: Uint8Array.from(Buffer.from(data, 'hex')),
      },
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
