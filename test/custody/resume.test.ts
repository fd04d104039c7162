import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  approverCommands,
  installationApproverCommands,
} from '../../packages/server/src/operator/merchants.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import {
  isStopped,
  type Stopped,
  stopNetwork,
} from '../../packages/server/src/transfers/blocks/network-stops.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';

let service: TestService;
/** Of two merchants: real money, and none. */
const owners = { live: '', sandbox: '' };
const tokens = new Map<string, string>();
let now = 1_000;

beforeAll(async () => {
  service = await startService();
  for (const mode of ['live', 'sandbox'] as const)
    owners[mode] = (await service.createMerchant({ mode })).merchantId;
  for (const name of ['Ada', 'Grace', 'Eve'])
    tokens.set(name, (await installationApproverCommands(service.app).add(name)).token);
  // The same name, and another person for all that is known.
  const ofMerchant = await approverCommands(service.app).add('Ada', idOf('live'));
  tokens.set('Ada of the merchant', ofMerchant.token);
});
afterAll(() => service?.stop());
beforeEach(() => asOwner(service, 'delete from network_stop'));

type Mode = keyof typeof owners;
const idOf = (mode: Mode) => encodeId('merchant', owners[mode]);
const owner = (mode: Mode) => ({ merchantId: owners[mode], mode });
const by = (name: string, as = name) => ({ as, token: tokens.get(name) ?? '' });

/** Each stop is a second later than the one before. */
const stop = async (mode: Mode, what: Stopped = 'sending') => {
  now += 1;
  await transact(service.app.db, (tx) =>
    stopNetwork(tx, owner(mode), 'erc20', { what, reason: 'gone', nowSeconds: now, nowMs: now * 1000 }),
  );
};
const stopped = async (mode: Mode) => await isStopped(service.app.db, owner(mode), 'erc20');
const resume = (who?: ReturnType<typeof by>, merchant?: string) =>
  networkCommands(service.app).resume('erc20', merchant, who);

const ONE = { resumed: 0, agreed: 1, required: 2 };

test('real money goes on once two approvers of the installation say so, each once', async () => {
  await stop('live');
  await expect(resume()).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('--operator'),
    details: { param: 'as' },
  });
  expect(await resume(by('Ada'))).toMatchObject(ONE);
  await expect(resume(by('Ada'))).rejects.toMatchObject({ code: 'invalid_request' });
  expect(await stopped('live')).toBe(true);
  expect(await resume(by('Grace'))).toMatchObject({ resumed: 1, agreed: 2, required: 2 });
  expect(await stopped('live')).toBe(false);
  expect(await resume()).toEqual({ network: 'erc20', resumed: 0 });
});

test('approvers of a merchant, wrong tokens and the removed do not count', async () => {
  await stop('live');
  expect(await resume(by('Eve'))).toMatchObject(ONE);
  for (const who of [by('Ada of the merchant', 'Ada'), by('Grace', 'Ada'), by('Nobody')])
    await expect(resume(who)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('Approvers of a merchant do not decide this'),
    });
  const people = installationApproverCommands(service.app);
  await people.remove('Eve');
  expect((await people.list()).map(({ name }) => name)).toEqual(['Ada', 'Grace']);
  expect(await resume(by('Ada'), idOf('live'))).toMatchObject(ONE);
  expect(await resume(by('Grace'), idOf('live'))).toMatchObject({ resumed: 1 });
});

test('a vote counts for the stop that it saw, and for no later one', async () => {
  await stop('live');
  expect(await resume(by('Ada'))).toMatchObject(ONE);
  await stop('live', 'early_credit');
  expect(await resume(by('Grace'))).toMatchObject(ONE);
  expect(await resume(by('Ada'))).toMatchObject({ resumed: 2 });
  await stop('live');
  expect(await resume(by('Grace'))).toMatchObject(ONE);
  // Another cause of what is stopped already.
  await stop('live');
  expect(await resume(by('Ada'))).toMatchObject(ONE);
  expect(await stopped('live')).toBe(true);
  expect(await resume(by('Grace'))).toMatchObject({ resumed: 1 });
});

test('of two votes at once one carries the decision out', async () => {
  await stop('live');
  const said = await Promise.all([resume(by('Ada')), resume(by('Grace'))]);
  expect(new Set(said.map(({ resumed }) => resumed))).toEqual(new Set([0, 1]));
  expect(await stopped('live')).toBe(false);
});

test('a sandbox merchant’s chain needs nobody, and takes the real money along for nobody', async () => {
  await stop('sandbox');
  expect(await resume()).toEqual({ network: 'erc20', resumed: 1 });
  await stop('sandbox');
  await stop('live');
  await expect(resume()).rejects.toMatchObject({ code: 'forbidden' });
  expect(await stopped('sandbox')).toBe(true);
  expect(await resume(undefined, idOf('sandbox'))).toEqual({ network: 'erc20', resumed: 1 });
  expect(await stopped('live')).toBe(true);
});

test('an approver is of a merchant or of the installation, and neither list shows the other', async () => {
  const people = installationApproverCommands(service.app);
  await expect(people.add('Mia', idOf('live'))).rejects.toMatchObject({ details: { param: 'merchant' } });
  const key = `0x${'ab'.repeat(32)}`;
  expect(await people.addKey('Mia', key)).toMatchObject({ name: 'Mia', key, token: expect.any(String) });
  expect(await people.addKey('Mia', key)).toEqual({ name: 'Mia', key });
  expect(await people.list()).toContainEqual(expect.objectContaining({ name: 'Mia', key }));
  const ofMerchant = await approverCommands(service.app).list(idOf('live'));
  expect(ofMerchant.map(({ name }) => name)).toEqual(['Ada']);
});
