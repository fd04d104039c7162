import type pg from 'pg';

/** Left out: the migrator's own lists, and what PostgreSQL itself or an extension keeps in the same schemas. */
const OURS = `n.nspname in ('app', 'public', 'simchain')
  and not exists (select from pg_depend d where d.objid = o.oid and d.deptype = 'e')`;

const TABLES = `
  select n.nspname || '.' || o.relname as name,
    (select string_agg('  ' || quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attnotnull then ' not null' else '' end
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\\n' order by a.attnum)
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped) as columns,
    -- Version 18 lists what is not null among the constraints, older ones do not: it stands with the column.
    (select string_agg('  constraint ' || quote_ident(c.conname) || ' ' || pg_get_constraintdef(c.oid), E',\\n'
       order by array_position(array['p', 'u', 'f', 'c'], c.contype::text), c.conname)
     from pg_constraint c where c.conrelid = o.oid and c.contype <> 'n') as constraints,
    array_to_string(o.reloptions, ', ') as options,
    pg_get_partkeydef(o.oid) as partition_key,
    (select string_agg(pg_get_indexdef(i.indexrelid) || ';', E'\\n' order by i.indexrelid::regclass::text collate "C")
     from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x')
     where i.indrelid = o.oid and c.oid is null) as indexes
  from pg_class o join pg_namespace n on n.oid = o.relnamespace
  where o.relkind in ('r', 'p') and not o.relispartition and ${OURS} and o.relname not like 'kysely\\_%'
  order by n.nspname, o.relname`;

const FUNCTIONS = `
  select pg_get_functiondef(o.oid) as definition
  from pg_proc o join pg_namespace n on n.oid = o.pronamespace
  where o.prokind in ('f', 'p') and ${OURS}
  order by n.nspname, o.proname, pg_get_function_identity_arguments(o.oid)`;

interface Table {
  name: string;
  columns: string;
  constraints: string | null;
  options: string | null;
  partition_key: string | null;
  indexes: string | null;
}

function writeTable({ name, columns, constraints, options, partition_key, indexes }: Table): string {
  const body = [columns, constraints].filter((part) => part !== null).join(',\n');
  const storage = options === null ? '' : ` with (${options})`;
  const division = partition_key === null ? '' : ` partition by ${partition_key}`;
  return `create table ${name} (\n${body}\n)${division}${storage};\n${indexes === null ? '' : `${indexes}\n`}`;
}

const HEADER = `-- What the migrations make, read back from the catalog of a database: for people to read and for reviews to see.
-- Written by: node scripts/run.js scripts/schema.ts. A test compares it with the migrations.
`;

/** The whole schema as text that is the same on every supported version of PostgreSQL. */
export async function describeSchema(client: pg.Client): Promise<string> {
  const functions = await client.query<{ definition: string }>(FUNCTIONS);
  const tables = await client.query<Table>(TABLES);
  const parts = [
    HEADER,
    ...functions.rows.map(({ definition }) => `${definition.trim()};\n`),
    ...tables.rows.map(writeTable),
  ];
  return parts.join('\n');
}
