import { connect } from 'node:net';
import { NETWORKS, type Network } from '@florin/contract/money';
import { SignerClient, SignerRefused, SignerUnavailable } from '@florin/signer/client';
import type { SignerStatus } from '@florin/signer/protocol';
import type { App } from '../app.ts';
import { findAccountFaults, NetworksFileWrong, readNetworksFile } from '../chains/index.ts';
import { ChainUnavailable, NATIVE_COINS } from '../chains/port/index.ts';
import { readTankMinimum, stakedBy } from '../custody/index.ts';
import { countElsewhere } from '../payment-methods/charges/index.ts';
import { listPools } from '../payments/deposits/index.ts';
import type { Config } from '../platform/config.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
import { listApprovers } from '../stores/approvers/index.ts';
import { listMerchants } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { isTurnedOn } from '../transfers/index.ts';
import { contractCommands } from './contracts.ts';
import { checkNetworksFile } from './networks.ts';
import { type Check, MEND_FIRST, messageOf, runChecks } from './run-checks.ts';
import { formatCoin } from './treasury.ts';

/** What has to be there before real money moves. `open`: it cannot be seen from here, or does not exist yet. */
export interface LiveCheck {
  check:
    | 'networks'
    | 'endpoints'
    | 'signer'
    | 'approvers'
    | 'backup'
    | 'database'
    | 'accounts'
    | 'tank'
    | 'contracts'
    | 'charges'
    | 'addresses'
    | 'merchants'
    | 'installation'
    | 'alarms'
    | 'restores'
    | 'reconciler'
    | 'audit';
  status: 'ok' | 'missing' | 'open';
  found: string;
  /** What to do; null where nothing is to be done. */
  advice: string | null;
}

type ConfiguredNetworks = ReturnType<typeof readNetworksFile>;
type Finding = Omit<LiveCheck, 'check'>;
type NamedCheck = Check<LiveCheck['check'], Finding>;

const ANSWER_MS = 3_000;
/** So many decide what concerns every merchant. */
const DECIDERS = 2;

const ok = (found: string): Finding => ({ status: 'ok', found, advice: null });
const missing = (found: string, advice: string): Finding => ({ status: 'missing', found, advice });
const open = (found: string, advice: string | null = null): Finding => ({ status: 'open', found, advice });

/** Looks at all that real money needs, and changes nothing. */
export async function examineLive(
  config: Config,
  openDatabase: (config: Config) => Promise<App>,
): Promise<LiveCheck[]> {
  const networks = readNetworks(config);
  const signer = await readSigner(config);
  const before: NamedCheck[] = [
    ['networks', () => checkNetworks(config, networks)],
    ['endpoints', () => checkOwnWord(networks)],
    ['signer', () => checkSigner(signer, networks)],
    ['approvers', () => checkApprovers(signer)],
    ['backup', () => BACKUP],
  ];
  const after: NamedCheck[] = [
    ['alarms', () => checkAlarms(config)],
    ['restores', () => RESTORES],
    ['reconciler', () => RECONCILER],
    ['audit', () => AUDIT],
  ];
  return [
    ...(await runChecks(before, missing)),
    ...(await checkDatabase(networks?.erc20 && config.signer ? config : withoutLive(config), openDatabase)),
    ...(await runChecks(after, missing)),
  ];
}

/** The file's networks; undefined where it is not named or has mistakes, which `checkNetworks` shows. */
function readNetworks({ networksFile }: Config): ConfiguredNetworks | undefined {
  if (networksFile === undefined) return undefined;
  try {
    return readNetworksFile(networksFile);
  } catch (error) {
    if (error instanceof NetworksFileWrong) return undefined;
    throw error;
  }
}

async function checkNetworks(config: Config, networks: ConfiguredNetworks | undefined): Promise<Finding> {
  const { networksFile, outbound } = config;
  if (networksFile === undefined)
    return missing(
      'FLORIN_NETWORKS_FILE is not set',
      'Copy docs/networks.mainnet.json, put your endpoints into it, and name it there.',
    );
  const { mistakes, endpoints } = await checkNetworksFile(networksFile, outbound.ca);
  const again = `Mend it, then run florin networks check ${networksFile}.`;
  const erc20 = networks?.erc20;
  if (erc20 === undefined) return missing(`${networksFile}: ${mistakes.join('; ')}`, again);
  const problems = endpoints.flatMap(({ host, problems: own }) => own.map((one) => `${host} ${one}`));
  const beside = [networks?.trc20, networks?.spl]
    .map((one) => (one === undefined ? '' : `, and ${one.name}, genesis ${one.genesisHash}`))
    .join('');
  if (problems.length > 0) return missing(problems.join('; '), again);
  const count = endpoints.length === 1 ? '1 endpoint answers' : `${endpoints.length} endpoints answer`;
  return ok(
    `${count} for ${erc20.name}, chain ${erc20.chainId}, with its genesis, tokens and contracts${beside}`,
  );
}

const LATER = 'is checked once the networks file can be read';

function checkOwnWord(networks: ConfiguredNetworks | undefined): Finding {
  if (networks?.erc20 === undefined) return missing(`whose word decides ${LATER}`, 'Mend networks first.');
  const named = [networks.erc20, networks.trc20, networks.spl].filter((one) => one !== undefined);
  const lonely = named.find(({ endpoints: [one, ...others] }) => others.length === 0 && one?.isOwn !== true);
  if (lonely !== undefined)
    return missing(
      `one endpoint of somebody else alone is not believed (${lonely.name})`,
      'Name a second one of another provider, or mark your own node with "own": true.',
    );
  const lines = named.map(({ endpoints }) =>
    endpoints.some(({ isOwn }) => isOwn)
      ? 'a node of your own is named'
      : `${endpoints.length} endpoints, of which two must agree`,
  );
  return ok([...new Set(lines)].join('; '));
}

const SIGNER_FIRST = 'Start florin signer run, and set FLORIN_SIGNER to the place where it listens.';

/** @returns what is missing, where it does not answer */
async function readSigner({ signer }: Config): Promise<SignerStatus | Finding> {
  if (signer === undefined) return missing('FLORIN_SIGNER is not set', SIGNER_FIRST);
  const client = new SignerClient(signer);
  try {
    return await client.status();
  } catch (error) {
    if (!(error instanceof SignerUnavailable || error instanceof SignerRefused)) throw error;
    return missing(error.message, SIGNER_FIRST);
  } finally {
    client.close();
  }
}

function checkSigner(signer: SignerStatus | Finding, networks: ConfiguredNetworks | undefined): Finding {
  if ('found' in signer) return signer;
  const { frozen, policy, networks: known } = signer;
  if (frozen !== null)
    return missing(`it is frozen: ${frozen.reason}`, 'Find out why, then run florin signer unfreeze.');
  const chainId = networks?.erc20?.chainId;
  const named = known.flatMap((one) => (one.network === 'erc20' ? [one.chainId] : []));
  if (chainId !== undefined && !named.includes(chainId))
    return missing(
      `its policy is for chain ${named.join(', ') || 'none'}, the networks file for ${chainId}`,
      'Correct networks.erc20 of the policy, then start the signer again.',
    );
  for (const [network, name] of [
    ['trc20', 'Tron'],
    ['spl', 'Solana'],
  ] as const) {
    const genesis = networks?.[network]?.genesisHash;
    const geneses = known.flatMap((one) => (one.network === network ? [one.genesis] : []));
    if (genesis !== undefined && !geneses.includes(genesis))
      return missing(
        `its policy is for the ${name} of genesis ${geneses.join(', ') || 'none'}, the networks file for ${genesis}`,
        `Correct networks.${network} of the policy, then start the signer again.`,
      );
  }
  return ok(`it answers and is not frozen, policy ${policy.slice(0, 16)}`);
}

function checkApprovers(signer: SignerStatus | Finding): Finding {
  if ('found' in signer) return missing('the policy is checked once the signer answers', SIGNER_FIRST);
  const { approvers } = signer;
  if (approvers.length > 0) return ok(`the policy names ${approvers.map(({ name }) => name).join(', ')}`);
  return missing(
    'the policy names nobody: what its limits let pass is signed without people',
    'Make a key with florin approvers new-key, name it in the policy, and start the signer again.',
  );
}

const BACKUP = open(
  'whether the 24 words on paper are right cannot be seen from here',
  'Run florin signer backup-check --key-file FILE where the key file is, now and once a quarter.',
);
const RESTORES = open('settling what a restored backup does not know does not exist yet: mainnet is a pilot');
const RECONCILER = open('reconciling with other systems does not exist yet: mainnet is a pilot');
const AUDIT = open(
  'the contracts await an audit from outside: mainnet is a pilot',
  'Keep what you would not miss.',
);

/** Half of them does not open: what is missing has a line of its own. */
const withoutLive = (config: Config): Config => ({ ...config, networksFile: undefined, signer: undefined });

/** What the database and the chain tell together. */
async function checkDatabase(
  config: Config,
  openDatabase: (config: Config) => Promise<App>,
): Promise<LiveCheck[]> {
  let app: App;
  try {
    app = await openDatabase({ ...config, logLevel: 'silent' });
  } catch (error) {
    const found = `${messageOf(error)} Accounts, tank, contracts, merchants and the approvers of the installation are checked afterwards.`;
    return [{ check: 'database', ...missing(found, MEND_FIRST) }];
  }
  try {
    const checks: NamedCheck[] = [
      ['database', () => ok('it opens, with its master key')],
      ['accounts', () => (app.live === undefined ? LIVE_FIRST : checkAccounts(app.live))],
      ['tank', () => (app.live === undefined ? LIVE_FIRST : checkTank(app))],
      ['contracts', () => (app.live === undefined ? LIVE_FIRST : checkContracts(app))],
      ['charges', () => (app.live === undefined ? LIVE_FIRST : checkCharges(app.live, app.db))],
      ['addresses', () => checkAddresses(app)],
      ['merchants', () => checkMerchants(app)],
      ['installation', () => checkInstallation(app)],
    ];
    return await runChecks(checks, missing);
  } finally {
    await app.close();
  }
}

const LIVE_FIRST = missing(
  'checked once the networks file can be read and FLORIN_SIGNER is set',
  'Mend networks and signer first.',
);

/** Coins that are paid to addresses of another seed cannot be moved. */
async function checkAccounts({ accounts, chains }: NonNullable<App['live']>): Promise<Finding> {
  const known = accounts.list();
  const faults = await findAccountFaults(known, chains).catch(whileAway);
  if (faults === undefined) return open('keys of accounts are compared while the signer answers', MEND_FIRST);
  const count = known.length === 1 ? '1 account' : `${known.length} accounts`;
  if (faults.length === 0) return ok(`${count}, each with the signer's own key`);
  const foreign = faults.flatMap(({ what, account }) => (what === 'key' ? [account] : []));
  if (foreign.length === 0)
    return missing(
      faults.map(({ line }) => line).join(' '),
      'Payouts or charges of these accounts wait until then.',
    );
  const names = foreign.map(({ merchantId, account }) => `${account} (${encodeId('merchant', merchantId)})`);
  return missing(
    `the database holds keys that are not the signer's for accounts ${names.join(', ')}`,
    'Start the signer with the key file that these accounts were opened with; if it is the right one, somebody has changed the database.',
  );
}

function whileAway(error: unknown): undefined {
  if (!(error instanceof ChainUnavailable)) throw error;
}

async function checkTank(app: App): Promise<Finding> {
  const lines: string[] = [];
  const wants: string[] = [];
  for (const network of NETWORKS) {
    const tank = await app.chains.readTank(network);
    if (tank === undefined) continue;
    const { name } = NATIVE_COINS[network];
    lines.push(`${tank.address} holds ${formatCoin(tank.native, network)} ${name}`);
    const { native: needed, setting, stake: least } = await readTankMinimum(app.db, network);
    const atLeast = (of: string, native: bigint) => `at least ${of}, ${formatCoin(native, network)}`;
    if (tank.native < needed)
      wants.push(`Send it ${name}: ${atLeast(setting, needed)}. Payouts and sweeps wait for it.`);
    if (least !== undefined && stakedBy(tank.stake) < least.native)
      wants.push(
        `Stake ${name} for energy: ${atLeast(least.setting, least.native)}. Sweeps burn coins instead.`,
      );
  }
  if (lines.length === 0)
    return missing('the gas tank has no account yet', 'Run florin merchants create NAME --live first.');
  const found = lines.join('; ');
  return wants.length === 0 ? ok(found) : missing(found, wants.join(' '));
}

async function checkContracts(app: App): Promise<Finding> {
  const lines = await contractCommands(app).verify();
  const wrong = lines.filter(({ status }) => status === 'missing' || status === 'differs');
  if (wrong.length === 0) return ok('their code is that of this release');
  const found = wrong.map(({ contract, address, status }) => `${contract} ${address} ${status}`).join('; ');
  return missing(found, 'Run florin contracts verify, which says what to do about each.');
}

/** Mandates are taken where networks file and signer name the same collector, or the signer a delegate. */
async function checkCharges({ chains }: NonNullable<App['live']>, db: Db): Promise<Finding> {
  const faults = [...(await countElsewhere(db))].map(
    ([network, mandates]) => `${network}: ${mandates} mandates were given to another collector or delegate`,
  );
  const charged: Network[] = [];
  for (const network of NETWORKS) {
    const collector = chains.facts(network)?.collector ?? null;
    const charges = await chains.holder.chargesOn(network).catch(whileAway);
    if (charges === undefined) return open('compared while the signer answers', MEND_FIRST);
    const { by } = charges;
    // Ethereum's addresses are spelled with and without their checksum.
    const isSame = by !== null && by.toLowerCase() === collector?.toLowerCase();
    const isOfDelegate = network === 'spl' && by !== null && chains.facts(network)?.isTest === true;
    if (isSame || isOfDelegate) charged.push(network);
    else if (collector !== null)
      faults.push(
        `${network}: the networks file names the collector ${collector}, the signer's policy ${by ?? 'none'}`,
      );
  }
  const found = charged.length === 0 ? 'wallets are charged nowhere' : `wallets: ${charged.join(', ')}`;
  if (faults.length === 0) return ok(found);
  return missing(
    faults.join('; '),
    'Charges wait, and where both differ nobody is offered a mandate: name the one that payers have allowed in both. After three days payers are asked for new ones.',
  );
}

/** Where the signer names deposit addresses, it has to have named enough of them. */
async function checkAddresses(app: App): Promise<Finding> {
  const pools = await listPools(app.db);
  if (pools.length === 0) return ok('no network in use has addresses that the signer names ahead');
  const lines = pools.map(
    ({ network, left, merchantId }) =>
      `${network}: ${left} left to ${encodeId('merchant', merchantId)}, who has the fewest`,
  );
  const found = lines.join('; ');
  if (!pools.some(({ isLow }) => isLow)) return ok(found);
  return missing(found, 'Start the signer and florin work: nobody can choose a network without an address.');
}

async function checkMerchants(app: App): Promise<Finding> {
  const live = (await listMerchants(app.db)).filter(({ mode }) => mode === 'live');
  if (live.length === 0)
    return missing('there is no live merchant', 'Run florin merchants create NAME --live.');
  const lines: string[] = [];
  for (const network of NETWORKS) {
    const turnedOn = await Promise.all(live.map((merchant) => isTurnedOn(app.db, merchant, network)));
    const [at, others] = [turnedOn.indexOf(true), turnedOn.filter(Boolean).length - 1];
    const merchant = live[at];
    if (merchant !== undefined)
      lines.push(
        `${network}: ${encodeId('merchant', merchant.merchantId)}${others > 0 ? ` and ${others} more` : ''}`,
      );
  }
  if (lines.length > 0) return ok(`turned on for ${lines.join(', ')}`);
  return missing(
    'no live merchant is turned on: payouts are refused and refunds wait',
    'Run florin networks enable MERCHANT NETWORK.',
  );
}

/** Whoever resumes a network of real money, and takes over a database or a journal. */
async function checkInstallation(app: App): Promise<Finding> {
  const names = (await listApprovers(app, NIL_ID)).map(({ name }) => name);
  const found = names.length === 0 ? 'the installation has no approver' : `approvers: ${names.join(', ')}`;
  if (names.length >= DECIDERS) return ok(found);
  return missing(
    found,
    `A network that stops waits for ${DECIDERS} of them: florin approvers add NAME --operator.`,
  );
}

async function checkAlarms({ metrics }: Config): Promise<Finding> {
  const advice = 'Alarm a person on what docs/monitoring.md names';
  if (metrics === undefined)
    return missing(
      'FLORIN_METRICS_PORT is not set: nobody but this machine can read the metrics',
      `Set it for florin serve and florin work. ${advice}.`,
    );
  const place = `${metrics.host} port ${metrics.port}`;
  if (await doesAnswer(metrics))
    return { ...ok(`metrics are at ${place}`), advice: `${advice}, and try it.` };
  return missing(
    `nobody listens at ${place}`,
    'Start florin serve and florin work with it, then check again.',
  );
}

async function doesAnswer(place: { host: string; port: number }): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(place);
  socket.setTimeout(ANSWER_MS, () => resolve(false));
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  const answers = await promise;
  socket.destroy();
  return answers;
}
