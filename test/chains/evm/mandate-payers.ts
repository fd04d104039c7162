import { type Abi, type Address, encodeFunctionData, type Hex, parseEther, parseSignature } from 'viem';
import { Collector, TestUSDC } from '../../../contracts/artifacts/index.ts';
import type { Mandate, MandateSetup, MandateStep } from '../../../packages/server/src/chains/port/port.ts';
import { by, OWNER, testAccount } from '../../../scripts/local-chain.ts';
import type { ChainEnvironment, WalletOfPayer } from '../conformance-environment.ts';
import type { EvmEnvironment } from './environment.ts';

const FIRST_PAYER = 200;

type TypedData = Parameters<ReturnType<typeof testAccount>['signTypedData']>[0] & {
  message: Record<string, string>;
};

interface Call {
  to: Address;
  abi: Abi;
  functionName: string;
  args: readonly unknown[];
}

type PayerPart = Pick<
  ChainEnvironment,
  'signingPayer' | 'startsAt' | 'passUntil' | 'hold' | 'authorize' | 'approve' | 'revoke'
>;

/** Payers with keys: what their wallets sign is what the adapter hands out, and nothing else. */
export function mandatePayers(local: EvmEnvironment, collector: Address): PayerPart {
  const { client } = local;
  const wallets = new Map<string, ReturnType<typeof testAccount>>();
  const signed = new Map<string, TypedData['message']>();

  const walletOf = (address: string) => {
    const wallet = wallets.get(address);
    if (wallet === undefined) throw new Error(`${address} is no payer of ours`);
    return wallet;
  };

  async function send(from: string, calls: readonly Call[]): Promise<void> {
    const wallet = walletOf(from);
    await client.setBalance({ address: wallet.address, value: parseEther('1') });
    const nonce = await client.getTransactionCount({ address: wallet.address });
    const raws = calls.map(({ to, abi, functionName, args }, i) =>
      wallet.signTransaction({
        type: 'eip1559',
        chainId: local.network.chainId,
        nonce: nonce + i,
        to,
        data: encodeFunctionData({ abi, functionName, args }),
        gas: 300_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 9n,
      }),
    );
    await local.sendTogether(await Promise.all(raws));
  }

  const approval = ({ asset }: Pick<WalletOfPayer, 'asset'>, spender: string, amount: bigint): Call => ({
    to: local.token(asset),
    abi: TestUSDC.abi,
    functionName: 'approve',
    args: [spender, amount],
  });
  const collectorCall = (functionName: string, args: readonly unknown[]): Call => ({
    to: collector,
    abi: Collector.abi,
    functionName,
    args,
  });

  /** What the wallet signs, as anybody may send it. */
  async function permit(
    wallet: ReturnType<typeof testAccount>,
    step: Extract<MandateStep, { kind: 'permit' }>,
  ): Promise<Call> {
    const signature = await wallet.signTypedData(JSON.parse(step.typedData ?? ''));
    const { r, s, v } = parseSignature(signature);
    const args = [wallet.address, step.spender, step.amount, BigInt(step.deadline), Number(v), r, s];
    return { to: local.token(step.asset), abi: TestUSDC.abi, functionName: 'permit', args };
  }

  async function authorize({ mandate, steps }: MandateSetup): Promise<void> {
    const calls: Call[] = [];
    for (const step of steps) {
      if (step.kind === 'approve') calls.push(approval(step, step.spender, step.amount));
      else if (step.kind === 'permit') calls.push(await permit(walletOf(mandate.payer), step));
      else {
        const typedData: TypedData = JSON.parse(step.typedData ?? '');
        const signature: Hex = await walletOf(mandate.payer).signTypedData(typedData);
        signed.set(mandate.mandateId, typedData.message);
        // From another wallet than the payer's the signature alone counts.
        calls.push(collectorCall('activate', [typedData.message, signature]));
      }
    }
    await send(mandate.payer, calls);
  }

  async function hold({ owner, asset }: WalletOfPayer, balance: bigint): Promise<void> {
    const token = { address: local.token(asset), abi: TestUSDC.abi } as const;
    const holder = walletOf(owner).address;
    const held = await client.readContract({ ...token, functionName: 'balanceOf', args: [holder] });
    if (held > balance)
      await send(owner, [
        {
          to: token.address,
          abi: token.abi,
          functionName: 'transfer',
          args: [OWNER.address, held - balance],
        },
      ]);
    if (held >= balance) return;
    const args = [holder, balance - held] as const;
    await client.writeContract({ ...by(OWNER, 200_000n), ...token, functionName: 'mint', args });
    await client.mine({ blocks: 1 });
  }

  return {
    signingPayer: (number) => {
      const wallet = testAccount(FIRST_PAYER + number);
      wallets.set(wallet.address, wallet);
      return wallet.address;
    },
    startsAt: async () => Number((await client.getBlock()).timestamp),
    passUntil: async (seconds) => {
      const now = Number((await client.getBlock()).timestamp);
      if (now >= seconds) return;
      await client.increaseTime({ seconds: seconds - now });
      await client.mine({ blocks: 1 });
    },
    hold,
    authorize,
    approve: (wallet, amount, spender = collector) => send(wallet.owner, [approval(wallet, spender, amount)]),
    revoke: async ({ mandateId, payer }: Mandate) =>
      send(payer, [collectorCall('revoke', [signed.get(mandateId)])]),
  };
}
