import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPostgres } from '../packages/embedded-postgres/src/index.ts';
import { wordsOf } from '../packages/pages/src/words.ts';
import { migrateAll } from '../packages/server/src/app.ts';
import { describeSchema } from './schema-text.ts';
import { ROOT } from './step.ts';

wordsOf(
  `node scripts/run.js scripts/schema.ts
  Writes packages/server/schema.sql from a fresh database that has every migration.`,
  [0, 0],
);
const folder = await mkdtemp(path.join(tmpdir(), 'florin-schema-'));
const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), durable: false });
try {
  await migrateAll(postgres.url, undefined);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const file = path.join(ROOT, 'packages/server/schema.sql');
  await writeFile(file, await describeSchema(client));
  await client.end();
  console.log(`written: ${path.relative(process.cwd(), file)}`);
} finally {
  await postgres.stop();
  await rm(postgres.dataDir, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}
