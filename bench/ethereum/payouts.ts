import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../test/chains/evm/faulty-node.ts';
import { freshAddress } from '../../test/contracts/local-node.ts';
import type { BenchServer } from '../database.ts';
import { batchOf, credit } from '../networks/batch.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { type Store, withStore } from './store.ts';

const ITEMS = 200;
/** A call that pays 200 is longer than any other transaction of ours. */
const CALL_CHARACTERS = 10_000;

const isPayout = ({ method, params: [raw] }: Call) =>
  method === 'eth_sendRawTransaction' && String(raw).length > CALL_CHARACTERS;

/** Row 18d: from the call that submits a batch of 200, which writes the job, until the node has taken the transaction. */
export async function measurePayouts(server: BenchServer, options: RunOptions): Promise<Findings> {
  return await withStore(server, async (store) => {
    await credit(store, 'erc20', 'USDT');
    await store.service.startWorker();
    // The first one gets an allowance before.
    await payOut(store, 0);
    let from = ITEMS;
    const run = async () => {
      const seconds = await payOut(store, from);
      from += ITEMS;
      return seconds;
    };
    const { seconds = [] } = await interleave([{ name: 'seconds', run }], options);
    const remark =
      'Submit reserves 200 items; then a worker orders 200 transfers, reserves a sequence, prices, has the signer sign, stores ' +
      'the bytes and sends them. API, worker, signer and node share the machine.';
    return { results: [{ row: '18d', values: seconds }], remarks: [remark] };
  });
}

/** @returns seconds until the node has taken it; the batch is completed then */
async function payOut({ world, node, merchant: { sdk } }: Store, from: number): Promise<number> {
  const recipients = Array.from({ length: ITEMS }, (_, i) => freshAddress(from + i));
  const { batch_id: id } = await sdk.payouts.create(batchOf(recipients, 'erc20', 'USDT'));
  const { promise: taken, resolve } = Promise.withResolvers<number>();
  node.lie = (call) => {
    if (isPayout(call)) resolve(performance.now());
    return undefined;
  };
  const begun = performance.now();
  await sdk.payouts.submit(id);
  let isTaken = false;
  void taken.then(() => {
    isTaken = true;
  });
  // Movements before it have to be in a block; those after it make it final.
  for (;;) {
    await sleep(100);
    await world.mine(1);
    if (isTaken && (await sdk.payouts.retrieve(id)).status === 'completed') break;
  }
  return ((await taken) - begun) / 1_000;
}
