import { randomUUID } from 'node:crypto';
import { parseEther } from 'viem';
import type { EvmSender } from '../../packages/server/src/chains/evm/sender.ts';
import type { Mandate, MandateRequest } from '../../packages/server/src/chains/port/port.ts';
import { collectorDeployment } from '../../packages/signer/src/contracts.ts';
import { testAccount } from '../../scripts/local-chain.ts';
import { DirectNode } from '../../test/chains/evm/direct-node.ts';
import { FaultyNode } from '../../test/chains/evm/faulty-node.ts';
import { World } from '../../test/chains/evm/world.ts';
import { nextSigning } from '../../test/chains/next-signing.ts';
import type { Findings } from '../rows.ts';

const COLLECTOR = collectorDeployment().address;
const PRICE = 5_000_000n;
const MONTH = 30 * 86_400;
const PERIODS = 3;
const MANDATES = 1_000;
const ASSETS = ['USDT', 'USDC'] as const;

/**
 * Rows 20a to 20c: the gas of charges, the dearer of both tokens, and the calls that read the health of many mandates. The
 * same on any machine, so measured once.
 */
export async function measureCharges(): Promise<Findings> {
  const world = await World.start();
  try {
    await world.move(world.sender(), { kind: 'deploy', contract: 'collector' });
    const sender = world.sender({ collector: COLLECTOR });
    for (const address of [world.hot, testAccount(40).address])
      await world.client.setBalance({ address, value: parseEther('1') });
    await world.move(sender, { kind: 'account' });
    const used = { first: [] as number[], later: [] as number[] };
    for (const asset of ASSETS) {
      const [first = 0, ...later] = await chargePeriods(world, sender, asset);
      used.first.push(first);
      used.later.push(...later);
    }
    return {
      results: [
        { row: '20a', values: [Math.max(...used.first)] },
        { row: '20b', values: [Math.max(...used.later)] },
        { row: '20c', values: [await countReads(world)] },
      ],
      remarks: ['Gas is that of anvil. Calls that travel in one batch of JSON-RPC are counted one by one.'],
    };
  } finally {
    await world.stop();
  }
}

const requestAt = (startsAt: number, change: Partial<MandateRequest> = {}): MandateRequest => ({
  asset: 'USDT',
  payer: testAccount(40).address,
  cap: PRICE,
  period: 'month',
  startsAt,
  endsAt: null,
  subscriptions: 1,
  salt: randomUUID(),
  allowance: PRICE * BigInt(PERIODS),
  ...change,
});

/** @returns the gas of each period's charge */
async function chargePeriods(world: World, sender: EvmSender, asset: 'USDT' | 'USDC'): Promise<number[]> {
  const payer = testAccount(40);
  await world.mint(asset, payer.address, PRICE * 100n);
  await world.own(asset, 'approve', [`0x${COLLECTOR.slice(2)}`, PRICE * 100n], payer);
  let { time } = await world.head();
  const setup = await sender.mandateSetup(requestAt(time, { asset }));
  const step = setup.steps.find(({ kind }) => kind === 'activate');
  if (step?.kind !== 'activate') throw new Error('a payer signs a mandate');
  const signature = await payer.signTypedData(JSON.parse(step.typedData ?? ''));
  const { mandate } = setup;
  await world.move(sender, { kind: 'activate', mandate, signature }, { keyRef: 'hot' });
  const subscriptionId = randomUUID();
  const gas: number[] = [];
  for (let period = 0; period < PERIODS; period++) {
    gas.push(await charge(world, sender, { mandate, subscriptionId, time }));
    time += MONTH;
    await world.client.increaseTime({ seconds: MONTH });
    await world.mine(1);
  }
  return gas;
}

async function charge(
  world: World,
  sender: EvmSender,
  { mandate, subscriptionId, time }: { mandate: Mandate; subscriptionId: string; time: number },
): Promise<number> {
  const tx = await sender.buildCharge({
    signing: nextSigning(),
    keyRef: 'hot',
    mandate,
    chargeId: randomUUID(),
    amount: PRICE,
    subscriptionId,
    windowStart: time,
    windowEnd: time + MONTH,
    sequence: await world.sequenceOf(world.hot),
  });
  const { state } = await world.settle(sender, tx);
  if (state !== 'final') throw new Error(`a charge is ${state}`);
  const receipt = await world.client.getTransactionReceipt({ hash: `0x${tx.txId.slice(2)}` });
  return Number(receipt.gasUsed);
}

/** By a proxy in front of the node, which counts the calls of a batch one by one. */
async function countReads(world: World): Promise<number> {
  const { time } = await world.head();
  const node = await FaultyNode.start(world.node.url);
  const sender = world.sender({ collector: COLLECTOR }, world.account, new DirectNode(node.url));
  const asked = Array.from({ length: MANDATES }, (_, i) =>
    sender.mandateSetup(requestAt(time, { asset: i % 2 === 0 ? 'USDT' : 'USDC' })),
  );
  const mandates = (await Promise.all(asked)).map(({ mandate }) => mandate);
  node.forget();
  await sender.mandateStates(mandates);
  const calls = node.counted();
  await node.stop();
  return calls;
}
