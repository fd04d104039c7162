import type { Network } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { auditNetwork } from '../../packages/server/src/custody/audit.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { signedOf } from '../../packages/server/src/transfers/queries.ts';
import { jobOf } from '../job.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { BLOCKS_BY_HAND, startService, type TestService } from '../service.ts';
import { attemptsOf, newPayout, type Payout, submitItems } from '../transfers/payouts.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce } from './audits.ts';

let service: TestService;
beforeAll(async () => {
  // A block that came by itself would take what is broadcast below before the audit sees it.
  service = await startService({ simchainTiming: BLOCKS_BY_HAND });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** A payout that failed on the chain, in a final block, and another that was paid after it. */
async function failedAndPaid(network: Network) {
  const first = await newPayout(service, network, [{ to: 'fail', amount: '10.00' }]);
  const { merchant, chain } = first;
  await chain.mine(20);
  const process = new Process(service.app, merchant.merchantId);
  await process.finish(network);
  const items = [{ to: 'succeed' as const, amount: '2.00' }];
  const second = await submitItems(service, merchant, { network, items });
  await process.finish(network);
  expect(await attemptsOf(service, first)).toEqual(['failed']);
  expect(await attemptsOf(service, second)).toEqual(['succeeded']);
  return { first, second, merchant, chain, process };
}

/** Takes the blocks of both away: everything above a height. */
async function takeAway({ chain, merchant }: Payout): Promise<void> {
  const [row] = await asOwner<{ lowest: string }>(
    service,
    'select min(height)::text as lowest from transfer_attempt where merchant_id = $1',
    [merchant.merchantId],
  );
  await chain.reorgFrom(BigInt(row?.lowest ?? '0') - 1n);
}

test('fault 49: a failed payout that leaves its block delays no later one, and its transaction can never pay', async () => {
  const { first, second, merchant, chain, process } = await failedAndPaid('erc20');
  const { merchantId } = merchant;
  await takeAway(first);
  await auditOnce(service, merchantId, 'erc20');
  await chain.mine(4);
  await auditOnce(service, merchantId, 'erc20');
  await networkCommands(service.app).resume('erc20', encodeId('merchant', merchantId));
  const third = await submitItems(service, merchant, {
    network: 'erc20',
    items: [{ to: 'succeed', amount: '3.00' }],
  });
  await process.finish('erc20');
  expect(await attemptsOf(service, third)).toEqual(['succeeded']);
  expect(await attemptsOf(service, second)).toEqual(['succeeded']);
  const attempt = await service.app.db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('status', '=', 'failed')
    .executeTakeFirstOrThrow();
  expect(await chain.broadcast(signedOf(attempt))).toMatchObject({ result: 'rejected' });
  expect(await chain.status(signedOf(attempt))).toMatchObject({ state: 'dead' });
  expect(attempt.gone_at).toBeNull();
  // A network that a person has resumed does not stop again.
  await auditOnce(service, merchantId, 'erc20');
  const stops = (await networkCommands(service.app).list()).map((line) => line.merchant_id);
  expect(stops).not.toContain(encodeId('merchant', merchantId));
});

test('fault 49: it replaces a batch whose transaction waits in the mempool, whatever that has bid', async () => {
  const items = ['1.00', '2.00', '3.00', '4.00'].map((amount) => ({ to: 'fail' as const, amount }));
  const payout = await newPayout(service, 'erc20', items);
  const { merchant, chain } = payout;
  await chain.mine(20);
  const process = new Process(service.app, merchant.merchantId);
  await process.finish('erc20');
  await takeAway(payout);
  const attempt = await service.app.db
    .selectFrom('transfer_attempt')
    .selectAll()
    .where('merchant_id', '=', merchant.merchantId)
    .executeTakeFirstOrThrow();
  expect(await chain.broadcast(signedOf(attempt))).toMatchObject({ result: 'accepted' });
  await auditOnce(service, merchant.merchantId, 'erc20');
  await chain.mine(4);
  expect(await chain.status(signedOf(attempt))).toMatchObject({ state: 'dead', final: true });
});

test('fault 49: a node’s rejection of it is handled', async () => {
  const payout = await newPayout(service, 'erc20', [{ to: 'fail', amount: '10.00' }]);
  const { merchant, chain } = payout;
  await chain.mine(20);
  await new Process(service.app, merchant.merchantId).finish('erc20');
  await takeAway(payout);
  await chain.injectFaults('say_nonce_too_low');
  const heard: unknown[] = [];
  const warn = (fields: unknown) => void heard.push(fields);
  const log = Object.assign(Object.create(service.app.log), { warn });
  await auditNetwork({ ...service.app, log }, jobOf(merchant.merchantId, { network: 'erc20' }));
  expect(heard).toMatchObject([{ code: 'nonce_too_low' }]);
});

test.each(['trc20', 'spl'] as const)(
  'fault 49: on %s a failed payout that leaves its block waits for its bytes to expire, and is sent by nobody',
  async (network) => {
    const { first, merchant, chain } = await failedAndPaid(network);
    await takeAway(first);
    for (let scan = 0; scan < 2; scan++) {
      await auditOnce(service, merchant.merchantId, network);
      await chain.mine(4);
    }
    const rows = await asOwner<{ status: string; known: boolean }>(
      service,
      `select a.status, exists (select from simchain.transaction t where t.merchant_id = a.merchant_id
         and t.network = a.network and t.tx_id = a.tx_id and t.state <> 'gone') as known
       from transfer_attempt a where a.merchant_id = $1 order by a.attempt_id`,
      [merchant.merchantId],
    );
    expect(rows).toEqual([
      { status: 'failed', known: false },
      { status: 'succeeded', known: true },
    ]);
  },
);
