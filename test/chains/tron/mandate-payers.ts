import { TronWeb, utils } from 'tronweb';
import { encodeFunctionData } from 'viem';
import { Collector } from '../../../contracts/artifacts/index.ts';
import type { Mandate, MandateSetup } from '../../../packages/server/src/chains/port/port.ts';
import { call, hex, keyOf, native, OWNER, PAYER, type Signed, TRX } from '../../nodes/tron-client.ts';
import type { ChainEnvironment, WalletOfPayer } from '../conformance-environment.ts';
import { FINAL_BLOCKS, type TronEnvironment } from './environment.ts';

interface TypedData {
  domain: Record<string, unknown>;
  types: Record<string, { name: string; type: string }[]>;
  message: Record<string, string>;
}

type PayerPart = Pick<
  ChainEnvironment,
  'signingPayer' | 'startsAt' | 'passUntil' | 'hold' | 'authorize' | 'approve' | 'revoke'
>;

/** What a wallet with tronweb signs of the text that the adapter hands out. */
export function signTyped(secret: string, text: string): string {
  const { domain, types, message }: TypedData = JSON.parse(text);
  const { EIP712Domain: _, ...own } = types;
  const offline = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
  return offline.trx._signTypedData(domain, own, message, secret);
}

/** Payers with keys: what their wallets sign is what the adapter hands out, and nothing else. */
export function mandatePayers(local: TronEnvironment): PayerPart & {
  call: (who: ReturnType<typeof keyOf>, functionName: string, args: readonly unknown[]) => Promise<Signed>;
} {
  const { node, network } = local;
  const collector = network.collector ?? '';
  const wallets = new Map<string, ReturnType<typeof keyOf>>();
  const signed = new Map<string, TypedData['message']>();
  const url = node.url;

  const walletOf = (address: string) => {
    const wallet = wallets.get(address);
    if (wallet === undefined) throw new Error(`${address} is no payer of ours`);
    return wallet;
  };

  async function collectorCall(
    who: ReturnType<typeof keyOf>,
    functionName: string,
    args: readonly unknown[],
  ): Promise<Signed> {
    const data = encodeFunctionData({ abi: Collector.abi, functionName, args } as never).slice(2);
    const value = { contract_address: hex(collector), data };
    return await native(who, 'TriggerSmartContract', value, { url, feeLimit: 100 * TRX, validMs: 600_000 });
  }

  async function approval(wallet: WalletOfPayer, spender: string, amount: bigint): Promise<Signed> {
    const options = { contract: local.token(wallet.asset), url, validMs: 600_000 };
    return await call(walletOf(wallet.owner), 'approve(address,uint256)', [spender, amount], options);
  }

  async function authorize({ mandate, steps }: MandateSetup): Promise<void> {
    const { payer, asset, mandateId } = mandate;
    const list: Signed[] = [];
    for (const step of steps) {
      if (step.kind === 'approve')
        list.push(await approval({ owner: payer, asset }, step.spender, step.amount));
      if (step.kind !== 'activate') continue;
      const text = step.typedData ?? '';
      const { message }: TypedData = JSON.parse(text);
      signed.set(mandateId, message);
      // From another wallet than the payer's the signature alone counts.
      list.push(await collectorCall(PAYER, 'activate', [message, signTyped(walletOf(payer).secret, text)]));
    }
    await local.sendTogether(list);
  }

  async function hold({ owner, asset }: WalletOfPayer, balance: bigint): Promise<void> {
    const held = await local.balanceOf(asset, owner);
    if (held < balance) await local.give(asset, owner, balance - held);
    if (held <= balance) return;
    const options = { contract: local.token(asset), url, validMs: 600_000 };
    const values = [OWNER.address, held - balance];
    await local.sendTogether([await call(walletOf(owner), 'transfer(address,uint256)', values, options)]);
  }

  return {
    signingPayer: (number) => {
      const wallet = keyOf(`a payer of mandates ${number}`);
      if (!wallets.has(wallet.address)) node.fund(wallet.address, 10_000 * TRX);
      wallets.set(wallet.address, wallet);
      return wallet.address;
    },
    startsAt: async () => Math.floor(node.chain.head.time / 1_000),
    passUntil: async (seconds) => {
      const ms = seconds * 1_000 - node.chain.head.time;
      if (ms <= 0) return;
      node.chain.moveClock(ms);
      await local.mine(FINAL_BLOCKS);
    },
    hold,
    authorize,
    approve: async (wallet, amount, spender = collector) =>
      local.sendTogether([await approval(wallet, spender, amount)]),
    revoke: async ({ mandateId, payer }: Mandate) =>
      local.sendTogether([await collectorCall(walletOf(payer), 'revoke', [signed.get(mandateId)])]),
    call: collectorCall,
  };
}

/** As tronweb computes it. */
export function typedDigest(text: string): string {
  const { domain, types, message }: TypedData = JSON.parse(text);
  const { EIP712Domain: _, ...own } = types;
  return utils._TypedDataEncoder.hash(domain, own, message);
}
