import pg from 'pg';
import { expect, test } from 'vitest';
import { isSecondRun, useSandbox } from './sandbox-of-commands.ts';

const LONG_MS = 120_000;

const { command, read } = useSandbox();

async function query(text: string, values: readonly unknown[] = []): Promise<number | null> {
  const database = new pg.Client({ connectionString: read('running.json').database_url });
  await database.connect();
  const { rowCount } = await database.query(text, [...values]);
  await database.end();
  return rowCount;
}

/** Coins come into the sandbox's wallet on trc20, the one account there that holds so much. */
async function dust(units: number): Promise<void> {
  const rowCount = await query(
    `update simchain.account set balance = balance + $1
     where (merchant_id, network, currency, balance) = (select merchant_id, network, currency, max(balance)
       from simchain.account where network = 'trc20' and currency = 'USDC' group by 1, 2, 3 limit 1)`,
    [units],
  );
  expect(rowCount).toBe(1);
}

test.skipIf(isSecondRun)(
  'coins of a stranger are named apart, with exit code 0, and booked by two people',
  async () => {
    const of = ['--merchant', read('sandbox.json').merchant_id];
    await dust(2_500_000);
    const text = await command(['ledger', 'verify']);
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/USDC[\s\S]* 2\.500000/) });
    expect(text.stdout).toContain('nothing is missing, and one wallet holds more than the books know');
    const book = ['networks', 'book-surplus', 'trc20', 'USDC', '2.50', '--reference', 'dust', ...of];
    for (const [name, done] of [
      ['Grace', false],
      ['Linus', true],
    ] as const) {
      const added = await command(['approvers', 'add', name, ...of, '--json']);
      const env = { FLORIN_APPROVER_TOKEN: JSON.parse(added.stdout).token };
      const said = await command([...book, '--as', name, '--json'], env);
      expect(JSON.parse(said.stdout)).toMatchObject({ done, amount: '2.50', network: 'trc20' });
    }
    const after = await command(['ledger', 'verify', '--json']);
    expect([after.code, JSON.parse(after.stdout)]).toMatchObject([0, { differences: [], surpluses: [] }]);
  },
  LONG_MS,
);

test.skipIf(isSecondRun)(
  'a network of real money goes on by the word of two approvers of the installation',
  async () => {
    await query(
      `insert into network_stop (merchant_id, network, what, reason, stopped_at)
       values ('00000000-0000-0000-0000-000000000000', 'trc20', 'sending', 'gone', 1)`,
    );
    const resume = ['networks', 'resume', 'trc20'];
    const unnamed = await command(resume);
    expect(unnamed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('approvers add NAME --operator'),
    });
    const both = await command(['approvers', 'add', 'Bea', '--operator', '--merchant', 'mer_x']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--merchant') });
    for (const [name, resumed] of [
      ['Bea', 0],
      ['Cid', 1],
    ] as const) {
      const added = await command(['approvers', 'add', name, '--operator', '--json']);
      const env = { FLORIN_APPROVER_TOKEN: JSON.parse(added.stdout).token };
      const said = await command([...resume, '--as', name, '--json'], env);
      expect(JSON.parse(said.stdout)).toMatchObject({ resumed, required: 2 });
    }
    await command(['approvers', 'remove', 'Cid', '--operator']);
    const list = await command(['approvers', 'list', '--operator', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject([{ name: 'Bea' }]);
  },
  LONG_MS,
);
