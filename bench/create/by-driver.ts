// The recorded SQL by `pg`, for machines without pgbench: closed loops of clients, each statement prepared once.
import pg from 'pg';
import { argument, say } from '../child.ts';
import type { Script } from './script.ts';

const { url, script, clients, seconds } = argument<{
  url: string;
  script: Script;
  clients: number;
  seconds: number;
}>();

async function open(synchronousCommit: 'on' | 'off'): Promise<pg.Client> {
  const options = script.session.replace('synchronous_commit=on', `synchronous_commit=${synchronousCommit}`);
  const client = new pg.Client({ connectionString: url, options });
  await client.connect();
  return client;
}

/** `:name` → `$1`, once a statement. */
function prepare(text: string): { text: string; names: string[] } {
  const names: string[] = [];
  const numbered = text.replaceAll(/(?<!:):([a-z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: numbered, names };
}

const prepared = script.statements.map((statement) => ({
  ...prepare(statement.text),
  async: statement.async,
}));
const deadlineMs = performance.now() + seconds * 1000;

async function loop(clientId: number): Promise<number> {
  const [main, nonces] = [await open('on'), await open('off')];
  let n = 0;
  while (performance.now() < deadlineMs) {
    n += 1;
    const values: Record<string, unknown> = { ...script.constants, n, client_id: clientId };
    for (const [i, { text, names, async }] of prepared.entries()) {
      const query = { name: `s${i}`, text, values: names.map((name) => values[name]) };
      await (async ? nonces : main).query(query);
    }
  }
  await Promise.all([main.end(), nonces.end()]);
  return n;
}

const startMs = performance.now();
const done = await Promise.all(Array.from({ length: clients }, (_, clientId) => loop(clientId)));
say({ perSecond: (done.reduce((sum, n) => sum + n, 0) * 1000) / (performance.now() - startMs) });
