import { NETWORKS } from '@florin/contract/money';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { type ChainRegistry, openChains } from './registry.ts';
import { migrateSimulatedChain } from './simulated/migrate.ts';

describe('registry', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let db: Db;
  let chains: ChainRegistry;
  const clocks = new Map<string, number>();

  beforeAll(async () => {
    database = await createDatabase();
    await migrateSimulatedChain(database.url);
    db = connect({ url: database.url, poolSize: 4 });
    chains = openChains({
      simulatedDb: db,
      merchantNow: async (merchantId) => clocks.get(merchantId) ?? 1_770_000_000,
    });
  });
  afterAll(async () => {
    await db.destroy();
    await database.drop();
  });

  test('the simulated chain is migrated once, also in a database without the product', async () => {
    expect(await migrateSimulatedChain(database.url)).toEqual([]);
    const bare = new URL(database.url);
    bare.pathname = `${bare.pathname}_bare`;
    const name = bare.pathname.slice(1);
    await sql`create database ${sql.id(name)}`.execute(db);
    const racing = [migrateSimulatedChain(bare.href), migrateSimulatedChain(bare.href)];
    expect((await Promise.all(racing)).flat()).toEqual([
      '0001_simulated_chain',
      '0002_deposits',
      '0003_mandates',
      '0004_forks',
      '0005_wallet_holder',
      '0006_places',
      '0007_fee_floor',
      '0008_held_signing',
    ]);
    await sql`drop database ${sql.id(name)} with (force)`.execute(db);
  });

  test.each(NETWORKS)('%s: a sandbox merchant has a chain that follows its own clock', async (network) => {
    const [one, two] = [newId(), newId()];
    const chain = chains.of({ merchantId: one, mode: 'sandbox' }, network);
    const { height } = await chain.head();
    expect(await chains.sandbox(two, network).head()).toMatchObject({ height });
    clocks.set(one, 1_770_000_050);
    expect(await chains.sandbox(one, network).head()).toMatchObject({ height: height + 50n });
    expect(await chains.sandbox(two, network).head()).toMatchObject({ height });
  });

  test('C2: a merchant sees no transfer and no balance of another', async () => {
    const [one, two] = [chains.sandbox(newId(), 'erc20'), chains.sandbox(newId(), 'erc20')];
    await one.fund('USDT', 5n);
    expect((await two.transfers()).data).toEqual([]);
    expect(await two.balance(await one.hotAddress(), 'USDT', 'tip')).toBe(0n);
  });

  test.each(NETWORKS)('O2: %s: a live merchant never gets the simulated chain', (network) => {
    expect(() => chains.of({ merchantId: newId(), mode: 'live' }, network)).toThrow(Fail);
  });
});
