import { setTimeout as sleep } from 'node:timers/promises';
import { Fail } from '../../packages/server/src/operator.ts';
import { freePort } from '../free-port.ts';
import type { MoneyStage } from './seeded-money-actions.ts';
import type { World } from './world.ts';

// The database is copied while everything stands still. The chains and the wallets' holder lie elsewhere, as real ones do:
// they know what a copy does not.

const NOTICED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 250;
const COPY_WORKS_MS = 2_500;
const BLOCKS_TO_FINAL = 4;
const COMPARE_TIMES = 3;
const SIGNED = 'select count(*)::int as times from simchain.signature';

const signedOn = async ({ chain }: World): Promise<number> =>
  (await chain.query<{ times: number }>(SIGNED))[0]?.times ?? 0;

export async function goOnWithACopy(stage: MoneyStage): Promise<void> {
  const { world, round } = stage;
  await sleep(round.forMs);
  // In the middle of whatever they do, or in an orderly way.
  await Promise.all(world.nodes.map((node) => (round.target % 2 === 0 ? node.kill() : node.stop())));
  const copy = await world.database.copy('copy');
  if (round.count === 1) return await inItsPlace(stage);
  await Promise.all(world.nodes.map((node) => node.start()));
  await payOut(stage);
  await besideIt(stage, copy);
  await world.database.drop('copy');
}

async function payOut({ world, round, client }: MoneyStage): Promise<void> {
  await client.submit(await client.create(world.items(round.network, 2, { client })));
  await world.controlChain(round.network, { mine: BLOCKS_TO_FINAL }, client);
}

/** The original is lost, and the copy takes its name. It signs nothing before people have let it in. */
async function inItsPlace(stage: MoneyStage): Promise<void> {
  const { world } = stage;
  const signed = await signedOn(world);
  await world.database.replaceBy('copy');
  await Promise.all(world.nodes.map((node) => node.start()));
  await payOut(stage);
  await expectNotice(world.server.baseUrl);
  await expectNothingSigned(world, signed);
  await adopt(stage);
}

/** The original lives on, and works beside the copy or has paid before it and stands still. */
async function besideIt({ world, round }: MoneyStage, copyUrl: string): Promise<void> {
  const isAlone = round.count === 2;
  // Servers sign nothing.
  if (isAlone) await Promise.all(world.workers.map((node) => node.kill()));
  const signed = await signedOn(world);
  const port = await freePort();
  const worker = await world.addStranger(copyUrl, 'work', { FLORIN_METRICS_PORT: String(port) });
  try {
    await worker.start();
    await expectNotice(`http://127.0.0.1:${port}`);
    await sleep(COPY_WORKS_MS);
    if (isAlone) await expectNothingSigned(world, signed);
  } finally {
    await worker.close();
  }
  if (isAlone) await Promise.all(world.workers.map((node) => node.start()));
}

async function expectNotice(address: string): Promise<void> {
  for (const until = Date.now() + NOTICED_WITHIN_MS; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
    const metrics = await fetch(`${address}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    if (metrics.includes('\nflorin_history_changed 1\n')) return;
  }
  throw new Error('a copy of the database does not know that it is one');
}

async function expectNothingSigned(world: World, before: number): Promise<void> {
  const now = await signedOn(world);
  if (now !== before) throw new Error(`a copy of the database signed ${now - before} transactions`);
}

/** Once the books agree with the chains; else, with a stranger's coins about, by the word of two people. */
async function adopt({ world }: MoneyStage): Promise<void> {
  await world.operate(async ({ ledger }) => {
    for (let i = 0; i < COMPARE_TIMES; i++) {
      const { adopted } = await ledger.adoptHistory().catch((error: unknown) => {
        if (error instanceof Fail) return { adopted: false };
        throw error;
      });
      if (adopted) return;
      await Promise.all(world.merchants.map((one) => world.moveOn(one, BLOCKS_TO_FINAL)));
    }
    const said = [];
    for (const unchecked of world.installationApprovers) said.push(await ledger.adoptHistory({ unchecked }));
    if (said.at(-1)?.adopted !== true) throw new Error(`two people let no copy in: ${JSON.stringify(said)}`);
  });
}
