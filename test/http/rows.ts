import pg from 'pg';
import type { TestService } from '../service.ts';

/** Runs SQL as an administrator of the test's database, outside of the product. */
export async function query(service: TestService, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: service.app.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Every table with the number of its rows and a digest of them: equal before and after means nothing was written. The
 * request log is left out, as it has the refused requests too.
 */
export async function imageOfDatabase(service: TestService): Promise<Record<string, string>> {
  const tables = (await query(
    service,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
       and tablename not like 'request\\_log%' order by 1`,
  )) as { name: string }[];
  const parts = tables.map(
    ({
      name,
    }) => `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '')
                   as image from ${name} t`,
  );
  const rows = (await query(service, parts.join(' union all '))) as { name: string; image: string }[];
  return Object.fromEntries(rows.map(({ name, image }) => [name, image]));
}
