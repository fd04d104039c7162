import { expect, test } from 'vitest';
import { DatabaseServer } from './database-server.ts';
import { showChain } from './view-of-chain.ts';

test('the view of the chain is read, never written: what writes waits for its turn at the chain itself', async () => {
  const database = await DatabaseServer.open();
  const chain = await DatabaseServer.open();
  try {
    await chain.query("create schema simchain; create table simchain.chain as select '{}'::text[] as faults");
    await showChain(database, chain);
    const change = 'update simchain.chain set faults = faults || $1::text[]';
    await expect(database.query(change, [['one']])).rejects.toThrow('does not allow updates');

    const other = await chain.connect();
    await other.query('begin');
    await other.query(change, [['first']]);
    const second = chain.query(change, [['second']]);
    await other.query('commit');
    await other.end();
    await second;
    expect(await database.query('select faults from simchain.chain')).toEqual([
      { faults: ['first', 'second'] },
    ]);
  } finally {
    await database.close();
    await chain.close();
  }
});
