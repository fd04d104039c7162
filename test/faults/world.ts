import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCOPES } from '@florin/contract/scopes';
import { type App, migrateAll, openApp } from '../../packages/server/src/app.ts';
import { type SimulatedChain, testAddresses } from '../../packages/server/src/chains/index.ts';
import { type Operator, openOperator, readConfig } from '../../packages/server/src/operator.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/ids.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { fund } from '../../packages/server/src/sandbox/fund.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import type { Credentials } from '../signed-request.ts';
import {
  type HostileReceiver,
  type ReceivedRequest,
  startHostileReceiver,
} from '../webhooks/hostile-receiver.ts';
import { type Finding, findViolations, type Heard } from './checker.ts';
import { type DatabaseOptions, DatabaseServer, type Place, type Session } from './database-server.ts';
import { GoodClient, type Recipient } from './good-client.ts';
import { NodeUnderTest, type Role } from './node-under-test.ts';
import type { FaultProxy } from './proxy.ts';
import { UNFINISHED } from './unfinished.ts';
import { showChain } from './view-of-chain.ts';

export const NETWORKS = ['erc20', 'trc20', 'spl'] as const;
export type Network = (typeof NETWORKS)[number];
/** 1,000,000.00 on each network. */
const FUNDS = 1_000_000_000_000;
const BLOCKS_TO_FINAL = 40;
const ADVANCE_SECONDS = 10;
/** Past the next retry, which is due at most 1,024 minutes after the one before; payouts do not stand still so long. */
const TO_NEXT_RETRY_SECONDS = 1_024 * 60;
const LOOK_EVERY_MS = 150;
const FINISH_WITHIN_MS = 120_000;

/** A registered approver. */
export interface Person {
  as: string;
  token: string;
}

export interface WorldOptions {
  servers?: number;
  workers?: number;
  merchants?: number;
  /** Environment of every process. */
  env?: Readonly<Record<string, string>>;
  database?: DatabaseOptions;
  /** The chains lie in a database of their own, as real ones do: they keep what the product's loses. */
  ownChain?: boolean;
  /** With a chain of its own: its tables can be read through the product's database as well. */
  chainInView?: boolean;
  /** Nothing between the processes and the database is broken: they reach it without a detour, as where time is measured. */
  direct?: boolean;
  /** What happens to the database, with its tables and merchants, before a process of the service connects. */
  prepare?: (database: DatabaseServer) => Promise<void>;
  /** What the receiver does to each merchant's webhooks, as a path of hostile-behaviours.ts; without, there is none. */
  receive?: string;
}

const TO_RECEIVERS = { FLORIN_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128' };

interface Surroundings {
  database: DatabaseServer;
  chain: DatabaseServer;
  receiver: HostileReceiver | undefined;
}

/** The whole service in processes of its own, on a database of its own, with everything between them breakable. */
export class World {
  readonly database: DatabaseServer;
  /** Where the chains lie: the product's database, unless they have one of their own. */
  readonly chain: DatabaseServer;
  readonly servers: NodeUnderTest[] = [];
  readonly workers: NodeUnderTest[] = [];
  readonly merchants: GoodClient[] = [];
  /** Addresses that coins came from which nobody was to pay. */
  readonly strangers = new Set<string>();
  /** Registered approvers of each merchant: Ann and Bob. */
  readonly people = new Map<string, readonly [Person, Person]>();
  /** They decide what concerns every merchant: Cid and Dan. */
  readonly installationApprovers: Person[] = [];
  readonly #masterKey = randomBytes(32);
  readonly #env: Readonly<Record<string, string>>;
  readonly #receiver: HostileReceiver | undefined;

  readonly #isDirect: boolean;

  private constructor(
    { database, chain, receiver }: Surroundings,
    { env = {}, direct = false }: Pick<WorldOptions, 'env' | 'direct'>,
  ) {
    this.database = database;
    this.chain = chain;
    this.#env = { ...env, ...(receiver && { ...TO_RECEIVERS, FLORIN_OUTBOUND_CA_FILE: receiver.caFile }) };
    this.#receiver = receiver;
    this.#isDirect = direct;
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const { servers = 2, workers = 2, merchants = 1, chainInView = false, prepare, receive } = options;
    const database = await DatabaseServer.open(options.database);
    const chain = options.ownChain ? await DatabaseServer.open() : database;
    const receiver = receive === undefined ? undefined : await startHostileReceiver();
    const world = new World({ database, chain, receiver }, options);
    try {
      await world.#seed(merchants);
      if (chainInView) await showChain(database, chain);
      await prepare?.(world.database);
      if (receive !== undefined)
        for (const client of world.merchants) await world.addEndpoint(receive, client);
      for (let i = 0; i < servers; i++) await world.addNode('serve');
      for (let i = 0; i < workers; i++) await world.addNode('work');
      await Promise.all(world.nodes.map((node) => node.start()));
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  get nodes(): NodeUnderTest[] {
    return [...this.servers, ...this.workers];
  }

  get proxies(): FaultProxy[] {
    return this.nodes.flatMap((node) => [node.database, node.chain]);
  }

  get server(): NodeUnderTest {
    return this.servers[0] as NodeUnderTest;
  }

  get worker(): NodeUnderTest {
    return this.workers[0] as NodeUnderTest;
  }

  get merchant(): GoodClient {
    return this.merchants[0] as GoodClient;
  }

  /** Who approves for the only merchant. */
  get approvers(): readonly [Person, Person] {
    return this.people.get(this.merchant.merchantId) as readonly [Person, Person];
  }

  /** A further process, which is not started yet, with variables of its own. */
  async addNode(role: Role, env: Readonly<Record<string, string>> = {}): Promise<NodeUnderTest> {
    const list = role === 'serve' ? this.servers : this.workers;
    const node = await NodeUnderTest.open({
      role,
      name: `${role} ${list.length + 1}`,
      databaseUrl: this.database.url,
      chainUrl: this.chain.url,
      masterKey: this.#masterKey.toString('hex'),
      env: { ...this.#env, ...(this.#isDirect && this.#addresses()), ...env },
    });
    list.push(node);
    return node;
  }

  /** Variables that send a process past the proxies. */
  #addresses() {
    return { DATABASE_URL: this.database.url, FLORIN_SIMCHAIN_URL: this.chain.url };
  }

  /**
   * A process on another database of the same PostgreSQL, which no client is sent to and which sends no webhooks; the
   * caller closes it.
   */
  addStranger(
    databaseUrl: string,
    role: Role = 'serve',
    env: Readonly<Record<string, string>> = {},
  ): Promise<NodeUnderTest> {
    const masterKey = this.#masterKey.toString('hex');
    const chainUrl = this.chain === this.database ? databaseUrl : this.chain.url;
    return NodeUnderTest.open({ role, name: 'stranger', databaseUrl, chainUrl, masterKey, env });
  }

  /** Items for one batch, each of another amount. */
  items(
    network: Network,
    count: number,
    { client = this.merchant, to = 'succeed' }: { client?: GoodClient; to?: 'succeed' | 'fail' } = {},
  ): Recipient[] {
    const address = testAddresses(network)[to];
    return Array.from({ length: count }, () => ({
      real_name: client.canary,
      network,
      address,
      amount: client.nextAmount(),
    }));
  }

  /** The process that webhooks are sent to. */
  get receiver(): HostileReceiver {
    if (this.#receiver === undefined) throw new Error('this world receives no webhooks');
    return this.#receiver;
  }

  /** Requests that came for an endpoint. */
  async received(endpointId: string): Promise<readonly ReceivedRequest[]> {
    const { requests } = await this.receiver.report();
    return requests.filter(({ path }) => path.endsWith(`?${endpointId}`));
  }

  /** An endpoint for batches' news, at one of the receiver's behaviours or anywhere else. @returns its id */
  async addEndpoint(behaviour: string | { url: string }, client = this.merchant): Promise<string> {
    const endpointId = randomUUID();
    const url = typeof behaviour === 'string' ? this.receiver.url(behaviour) : behaviour.url;
    await this.database.query(
      `insert into webhook_endpoint (merchant_id, endpoint_id, store_id, url, types, created_at)
       select merchant_id, $2, store_id, $3, '{payout_batch.updated}', extract(epoch from now())
       from store where merchant_id = $1`,
      [client.merchantId, endpointId, `${url}?${endpointId}`],
    );
    return endpointId;
  }

  async killDatabase(): Promise<void> {
    await this.database.kill();
  }

  async startDatabase(): Promise<void> {
    await this.database.start();
    this.#point();
  }

  /** Another server takes over. */
  moveDatabase(to: Place): void {
    this.database.moveTo(to);
    this.#point();
  }

  /** By which a process of the operator's finds the database as it is now. */
  get operatorEnv(): Record<string, string> {
    return {
      DATABASE_URL: this.database.url,
      FLORIN_SIMCHAIN_URL: this.chain.url,
      FLORIN_MASTER_KEY: this.#masterKey.toString('hex'),
    };
  }

  /** Runs an operator's commands on the database as it is now. */
  async operate<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
    const operator = await openOperator(readConfig(this.operatorEnv, {}, { logLevel: 'silent' }));
    try {
      return await work(operator);
    } finally {
      await operator.close();
    }
  }

  /** Orders the simulated node of a merchant to misbehave at its next broadcasts, or a chain to fall apart. */
  async controlChain(network: Network, order: object, client = this.merchant): Promise<void> {
    await client.insist('POST', `/test_helpers/chains/${network}`, order);
  }

  /** What others than the service do on a merchant's chain. */
  async onChain<T>(
    { merchantId }: GoodClient,
    network: Network,
    work: (chain: SimulatedChain) => Promise<T>,
  ): Promise<T> {
    const app = await this.#openApp();
    try {
      return await work(app.chains.sandbox(merchantId, network));
    } finally {
      await app.close();
    }
  }

  #openApp(): Promise<App> {
    const urls = { databaseUrl: this.database.url, simchainUrl: this.chain.url };
    return openApp({ ...urls, masterKey: this.#masterKey, log: createLogger('silent'), poolSize: 2 });
  }

  /** Wallets that are being charged for a merchant. */
  async chargesUnderWay({ merchantId }: GoodClient): Promise<{ network: Network; wallet: string }[]> {
    return await this.database.query(
      `select distinct network, address as wallet from transfer
       where merchant_id = $1 and owner_type = 'charge' and status in ('queued', 'sending')`,
      [merchantId],
    );
  }

  /** Ends all faults and brings every process up. */
  async heal(): Promise<void> {
    for (const proxy of this.proxies) {
      proxy.lift();
      proxy.mend();
    }
    await Promise.all(this.nodes.filter((node) => !node.isUp).map((node) => node.start()));
  }

  /** Heals and lets all work end. @returns what is left after that time: nothing */
  async finish(withinMs = FINISH_WITHIN_MS): Promise<string[]> {
    await this.heal();
    return await this.#finish(withinMs);
  }

  /** Heals, lets all work end and has everything judged. @returns what is broken: nothing */
  async judge(withinMs = FINISH_WITHIN_MS): Promise<Finding[]> {
    const left = await this.finish(withinMs);
    await this.#closeBlocks();
    const late = left.map((what): Finding => ({ invariant: 'I11', what }));
    const surprises = this.nodes.flatMap((node) => node.surprises);
    const crashed = surprises.map((what): Finding => ({ invariant: 'I12', what }));
    const heard = await this.#heard();
    const found = await findViolations((text, values) => this.database.query(text, values), heard);
    return [...late, ...crashed, ...found];
  }

  /** What the checker finds as a session sees the tables, in a transaction of its own too. */
  async findIn(session: Session): Promise<Finding[]> {
    const heard = await this.#heard();
    return await findViolations(async (text, values) => (await session.query(text, values)).rows, heard);
  }

  async #heard(): Promise<Heard> {
    const report = await this.#receiver?.report();
    return { clients: this.merchants, webhooks: report?.requests ?? [], strangers: [...this.strangers] };
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.database.close();
    if (this.chain !== this.database) await this.chain.close();
    await this.#receiver?.stop();
  }

  #point(): void {
    for (const node of this.nodes) {
      node.database.pointTo(this.database.url);
      node.chain.pointTo(this.chain.url);
    }
  }

  /** Makes blocks and moves the clocks until nothing is left to do. @returns what is left after all that time */
  async #finish(withinMs: number): Promise<string[]> {
    for (const until = Date.now() + withinMs; ; await sleep(LOOK_EVERY_MS)) {
      const left = (await this.database.query<{ what: string }>(UNFINISHED)).map(({ what }) => what);
      if (left.length === 0 || Date.now() > until) return left;
      const isPaidOut = left.every((what) => what.startsWith('delivery'));
      const seconds = isPaidOut ? TO_NEXT_RETRY_SECONDS : ADVANCE_SECONDS;
      await Promise.all(this.merchants.map((client) => this.moveOn(client, seconds)));
    }
  }

  /** A quiet chain closes the blocks that its clock has brought only when one is made: the checker reads closed ones. */
  async #closeBlocks(): Promise<void> {
    for (const client of this.merchants)
      for (const network of NETWORKS) await this.controlChain(network, { mine: 1 }, client);
  }

  /** Makes blocks, so that what is seen becomes final, and moves the clock. */
  async moveOn(client: GoodClient, seconds: number): Promise<void> {
    for (const network of NETWORKS) {
      await this.controlChain(network, { mine: BLOCKS_TO_FINAL }, client);
    }
    await client.request('POST', '/test_helpers/clock/advance', { body: { seconds } });
  }

  /** Merchants with money, made as the operator makes them. */
  async #seed(count: number): Promise<void> {
    await migrateAll(this.database.url, this.chain.url);
    const app = await this.#openApp();
    try {
      for (const as of ['Cid', 'Dan'])
        this.installationApprovers.push({ as, token: await addApprover(app, NIL_ID, as) });
      for (let i = 0; i < count; i++) {
        const merchant = await stores.createMerchant(app, { name: `Merchant ${i}`, mode: 'sandbox' });
        const { merchantId } = merchant;
        for (const network of NETWORKS) {
          await fund(app, merchant, { currency: 'USDT', network, amount: FUNDS });
          // No reorganisation of a run reaches down to the funds.
          await app.chains.sandbox(merchantId, network).mine(BLOCKS_TO_FINAL);
        }
        const storeId = await stores.createStore(app, { merchantId, name: 'Store', channelType: 'api' });
        await stores.changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
        const register = async (as: string) => ({ as, token: await addApprover(app, merchantId, as) });
        this.people.set(merchantId, [await register('Ann'), await register('Bob')]);
        const key = { merchantId, storeId, name: 'Key', validityDays: 0, scopes: SCOPES };
        this.#addClient(merchantId, await storeKeys.createKey(app, key));
      }
    } finally {
      await app.close();
    }
  }

  #addClient(merchantId: string, credentials: Credentials): void {
    const nodes = () => this.servers.map((server) => server.baseUrl);
    this.merchants.push(new GoodClient(merchantId, credentials, nodes));
  }
}
