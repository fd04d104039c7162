import { codeOf, inSession, type Session } from '../db.ts';

// Database rights protect append-only rows (the ledger's): the service works under a role that may read and add them,
// but not change or remove them. The database's owner migrates and then takes that role on every connection. Each
// database has its own role, because all databases of a server share their roles.

/** Prevents that two processes grant the same rights at the same time: PostgreSQL refuses the second. */
const GRANT_LOCK = 7_002;
const SIMULATED_SCHEMA = 'simchain';
const INSUFFICIENT_PRIVILEGE = '42501';

/** The rights before a change. Null: the tables do not exist yet. */
interface RoleState {
  role: string;
  known: boolean;
  /** This user may take the role. */
  member: boolean;
  may_create: boolean;
  owns: boolean | null;
  schemas: string[];
  /** All tables of the service, as SQL names them. */
  tables: string[];
  /** Number of tables on which the role has too few or too many rights. */
  wrong: number;
  /** This user itself cannot change the rows, so it needs no role. */
  bound: boolean | null;
  /** On Citus the role connects between nodes, so it must be able to log in; here it is not. */
  unusable: boolean;
}

async function lookUp(session: Session, appendOnly: readonly string[]): Promise<RoleState> {
  const { rows } = await session.query<RoleState>(
    `with named as (
       select case when octet_length(current_database()) <= 48 then 'florin_service_' || current_database()
                   else 'florin_service_' || md5(current_database()) end as role
     ), kept as (
       select c.oid, c.relowner, n.nspname from unnest($1::text[]) as t (name)
       join pg_class c on c.oid = to_regclass(t.name) join pg_namespace n on n.oid = c.relnamespace
     ), used as (
       select nspname from kept union select nspname from pg_namespace where nspname = $2
     ), ours as (
       select c.oid, c.oid in (select oid from kept) as is_kept
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in (select nspname from used)
         and c.relowner in (select relowner from kept)
     )
     select named.role, r.oid is not null as known,
       coalesce(pg_has_role(current_user, r.oid,
         case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end), false) as member,
       me.rolsuper or me.rolcreaterole as may_create,
       (select bool_and(pg_has_role(current_user, relowner, 'USAGE')) from kept) as owns,
       (select array_agg(nspname::text order by nspname) from used) as schemas,
       (select array_agg(oid::regclass::text order by oid) from ours) as tables,
       (select count(*)::int from ours
        where not has_table_privilege(r.oid, oid, 'select') or not has_table_privilege(r.oid, oid, 'insert')
          or has_table_privilege(r.oid, oid, 'update') = is_kept
          or has_table_privilege(r.oid, oid, 'delete') = is_kept
          or has_table_privilege(r.oid, oid, 'truncate') and is_kept) as wrong,
       (select not bool_or(has_table_privilege(oid, 'update') or has_table_privilege(oid, 'delete')
                           or has_table_privilege(oid, 'truncate')) from kept) as bound,
       exists (select from pg_extension where extname = 'citus') and not coalesce(r.rolcanlogin, false) as unusable
     from named join pg_roles me on me.rolname = current_user left join pg_roles r on r.rolname = named.role`,
    [[...appendOnly], SIMULATED_SCHEMA],
  );
  const state = rows[0];
  if (state === undefined) throw new Error('the database does not say who is connected');
  return state;
}

/**
 * Creates the service's role and grants its rights, after migrations: `select, insert, update, delete` on every table,
 * but only `select, insert` on the tables in `appendOnly`. Does nothing if the rights are already correct, or if the
 * user of `url` neither owns the tables nor may create roles (`findServiceRole` then returns a warning).
 */
export async function grantServiceRights(url: string, appendOnly: readonly string[]): Promise<void> {
  await inSession(url, async (session) => {
    const isDone = ({ owns, known, member, may_create, wrong }: RoleState) =>
      owns !== true || (!known && !may_create) || (known && wrong === 0 && (member || !may_create));
    if (isDone(await lookUp(session, appendOnly))) return;
    await session.query('begin');
    await session.query('select pg_advisory_xact_lock($1)', [GRANT_LOCK]);
    const state = await lookUp(session, appendOnly);
    if (!isDone(state)) await grant(session, state, appendOnly);
    await session.query('commit');
  });
}

async function grant(session: Session, state: RoleState, appendOnly: readonly string[]): Promise<void> {
  const role = session.escapeIdentifier(state.role);
  const schemas = state.schemas.map((name) => session.escapeIdentifier(name)).join(', ');
  const kept = appendOnly.map((name) => session.escapeIdentifier(name)).join(', ');
  if (!state.known) await session.query(`create role ${role} nologin`);
  await session.query(`grant usage on schema ${schemas} to ${role}`);
  await session.query(`grant select, insert, update, delete on ${state.tables.join(', ')} to ${role}`);
  await session.query(`revoke update, delete, truncate on ${kept} from ${role}`);
  if (!state.member) await join(session, role);
}

/** This user may be unable to join a role created by an administrator; then the administrator has to grant it. */
async function join(session: Session, role: string): Promise<void> {
  await session.query('savepoint joining');
  try {
    await session.query(`grant ${role} to current_user`);
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    await session.query('rollback to savepoint joining');
  }
}

export interface ServiceRole {
  /** The role to take on every connection; undefined: keep the user of the URL. */
  role?: string;
  /** Why rights do not protect the rows, and how an administrator can change that. */
  warning?: string;
}

/** Finds the role under which the service of this database works. */
export async function findServiceRole(url: string, appendOnly: readonly string[]): Promise<ServiceRole> {
  const { role, known, member, bound, wrong, unusable } = await inSession(url, (session) =>
    lookUp(session, appendOnly),
  );
  if (bound === null || bound) return {};
  if (known && member && wrong === 0 && !unusable) return { role };
  const how = unusable
    ? 'give the service a login role of its own without UPDATE and DELETE on them'
    : `run as an administrator: create role "${role}" nologin; grant "${role}" to the user of DATABASE_URL; then start again`;
  return {
    warning: `the database user may change rows of ${appendOnly.join(', ')}; to rule that out, ${how}`,
  };
}
