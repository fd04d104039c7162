import {
  batchPayoutDeployment,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  sweeperDeployment,
} from '@florin/signer/contracts';
import { bytesToHex, type Hex } from 'viem';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes } from './node-answers.ts';

/** The salt before the code, for the deterministic deployer. */
const SALT_BYTES = 32;

/** A contract of ours on the chain, beside what the committed code gives with the wallets of this installation. */
export interface ContractReport {
  contract: 'batch_payout' | 'sweeper' | 'collector' | 'sweep_delegate';
  /** Whose it is; null: of the whole installation. */
  merchantId: string | null;
  /** Where it was looked for. */
  address: string;
  /** Whether the networks file names it; a sweep delegate follows from the sweeper. */
  isConfigured: boolean;
  code: 'same' | 'differs' | 'none';
  /** Where the committed code comes to lie, and the transaction that anybody may send to put it there. */
  expected: { address: string; deployer: string; data: string };
}

interface Installation {
  network: Pick<EvmNetwork, 'batchPayout' | 'sweeper' | 'collector'>;
  /** The gas tank. */
  tank: string;
  merchants: readonly { merchantId: string; hot: string }[];
}

/**
 * Compares the code of our contracts with what the committed bytecode gives. The node runs the constructor in a call that
 * changes nothing and answers with the code that would be deployed, with the values of this installation in it.
 *
 * @throws ChainUnavailable
 */
export async function verifyContracts(node: EvmNode, installation: Installation): Promise<ContractReport[]> {
  const wanted = contractsOf(installation);
  const requests = wanted.flatMap(({ address, deployment: { data } }) => [
    { method: 'eth_getCode', params: [address, 'latest'] },
    { method: 'eth_call', params: [{ data: bytesToHex(data.subarray(SALT_BYTES)) }, 'latest'] },
  ]);
  const answers = await node.agreedMany(requests);
  return wanted.map(({ deployment, ...one }, place): ContractReport => {
    const found = codeIn(answers[2 * place]);
    const committed = codeIn(answers[2 * place + 1]);
    const code = found === '0x' ? 'none' : found === committed ? 'same' : 'differs';
    const { address, data } = deployment;
    return { ...one, code, expected: { address, deployer: DETERMINISTIC_DEPLOYER, data: bytesToHex(data) } };
  });
}

type Wanted = Omit<ContractReport, 'code' | 'expected'> & { deployment: Deployment };

function contractsOf({ network, tank, merchants }: Installation): Wanted[] {
  const shared = (
    contract: Exclude<ContractReport['contract'], 'sweep_delegate'>,
    configured: string | null,
    deployment: Deployment,
  ): Wanted => ({
    contract,
    merchantId: null,
    address: configured ?? deployment.address,
    isConfigured: configured !== null,
    deployment,
  });
  const sweeper = sweeperDeployment(tank);
  const delegates = merchants.map(({ merchantId, hot }): Wanted => {
    const deployment = delegateDeployment(hot, sweeper.address);
    const { address } = deployment;
    return { contract: 'sweep_delegate', merchantId, address, isConfigured: true, deployment };
  });
  return [
    shared('batch_payout', network.batchPayout, batchPayoutDeployment()),
    shared('sweeper', network.sweeper, sweeper),
    shared('collector', network.collector, collectorDeployment()),
    ...delegates,
  ];
}

function codeIn(answer: unknown): Hex {
  if (answer instanceof NodeError)
    throw new ChainUnavailable('erc20', `the contracts' code cannot be read: ${answer.message}`, answer);
  return readBytes(answer, 'the code');
}
