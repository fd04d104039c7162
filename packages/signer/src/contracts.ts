import { addressBytes, addressOf } from './address.ts';
import { BYTECODE } from './bytecode.ts';
import { concat, fromHex, type Hex, keccak } from './bytes.ts';
import { addressWord } from './calldata.ts';

/** Deploys whatever it is called with, at an address that follows from it alone. On most networks since their beginning. */
export const DETERMINISTIC_DEPLOYER = addressOf(fromHex('0x4e59b44847b379578588920ca78fbf26c0b4956c'));

const SALT = new Uint8Array(32);
const CREATE2 = Uint8Array.of(0xff);

/** A contract of ours on a chain: the address that it has once it is deployed, and the data that deploys it. */
export interface Deployment {
  address: Hex;
  /** For `DETERMINISTIC_DEPLOYER`: salt 0, then code and constructor values. */
  data: Uint8Array;
}

function deploymentOf(bytecode: string, args: readonly string[]): Deployment {
  const code = concat(fromHex(bytecode), ...args.map(addressWord));
  const digest = keccak(CREATE2, addressBytes(DETERMINISTIC_DEPLOYER), SALT, keccak(code));
  return { address: addressOf(digest.subarray(12)), data: concat(SALT, code) };
}

const batchPayout = deploymentOf(BYTECODE.BatchPayout, []);

/** `BatchPayout` has no constructor values: its address is the same for everybody. */
export const batchPayoutDeployment = (): Deployment => batchPayout;

const collector = deploymentOf(BYTECODE.Collector, []);

/** As `BatchPayout`: everybody's mandates are in one. */
export const collectorDeployment = (): Deployment => collector;

/**
 * The id of a merchant's account at the collector: the digest of its first owner, operator and home. The hot wallet is both
 * operator and home.
 */
export const collectorAccount = (owner: string, hot: string): Uint8Array =>
  keccak(...[owner, hot, hot].map(addressWord));

/** @param operator the address that may sweep: the gas tank */
export const sweeperDeployment = (operator: string): Deployment => deploymentOf(BYTECODE.Sweeper, [operator]);

/** @param home the hot wallet that a merchant's deposits are swept into */
export const delegateDeployment = (home: string, sweeper: string): Deployment =>
  deploymentOf(BYTECODE.SweepDelegate, [home, sweeper]);

/** A UUID as `BatchPayout`'s group: its 16 bytes, then zeros. @throws RangeError */
export function groupOf(uuid: string): Uint8Array {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid))
    throw new RangeError(`${uuid} is not a UUID`);
  return concat(Buffer.from(uuid.replaceAll('-', ''), 'hex'), new Uint8Array(16));
}
