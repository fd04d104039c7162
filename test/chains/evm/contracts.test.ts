import { type Address, bytesToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as compiled from '../../../contracts/artifacts/index.ts';
import { COLLECTOR_ABI } from '../../../packages/server/src/chains/collector/abi.ts';
import * as copied from '../../../packages/server/src/chains/evm/artifacts.ts';
import { delegationTo } from '../../../packages/server/src/chains/evm/contracts.ts';
import {
  batchPayoutDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  sweeperDeployment,
} from '../../../packages/signer/src/contracts.ts';
import { account, by, hasAnvil, LocalNode, OWNER } from '../../contracts/local-node.ts';

test("the server's ABIs are those of the artifacts", () => {
  const { BatchPayout, Sweeper } = compiled;
  expect({ ...copied }).toEqual({ BatchPayout: { abi: BatchPayout.abi }, Sweeper: { abi: Sweeper.abi } });
});

test('what the server calls of the collector, and what it reads, is as the contract has it', () => {
  const has = new Set<string>(compiled.Collector.abi.map((entry) => JSON.stringify(plain(entry))));
  for (const entry of COLLECTOR_ABI) expect(has).toContain(JSON.stringify(plain(entry)));
});

/** Types and names that encoding depends on. */
function plain(entry: unknown): unknown {
  if (Array.isArray(entry)) return entry.map(plain);
  if (typeof entry !== 'object' || entry === null) return entry;
  const { type, name, inputs, outputs, components, indexed } = entry as Record<string, unknown>;
  return {
    type,
    name,
    inputs: plain(inputs),
    outputs: plain(outputs),
    components: plain(components),
    indexed: indexed === true,
  };
}

describe.skipIf(!hasAnvil())('contracts of ours on a node', () => {
  let node: LocalNode;
  beforeAll(async () => {
    node = await LocalNode.start();
  });
  afterAll(() => node?.stop());

  const deploy = async ({ data }: Deployment) =>
    await node.mined(
      node.client.sendTransaction({
        ...by(OWNER, 2_000_000n),
        to: DETERMINISTIC_DEPLOYER,
        data: bytesToHex(data),
      }),
    );

  test('the deterministic deployer puts each at its computed address, once', async () => {
    const operator = account(1).address;
    const home = account(2).address;
    const sweeper = sweeperDeployment(operator);
    const delegate = delegateDeployment(home, sweeper.address);
    for (const one of [batchPayoutDeployment(), sweeper, delegate]) {
      expect(await node.client.getCode({ address: one.address })).toBeUndefined();
      expect((await deploy(one)).status).toBe('success');
      expect(await node.client.getCode({ address: one.address })).toMatch(/^0x/);
      expect((await deploy(one)).status).toBe('reverted');
    }
    const at = (address: Address) => node.at(compiled.SweepDelegate, address).read;
    expect(await node.at(copied.Sweeper, sweeper.address).read.operator()).toBe(operator);
    expect([await at(delegate.address).home(), await at(delegate.address).sweeper()]).toEqual([
      home,
      sweeper.address,
    ]);
  });

  test('another operator, home or sweeper is another address', () => {
    const [one, other] = [account(1).address, account(2).address];
    const addresses = [
      sweeperDeployment(one).address,
      sweeperDeployment(other).address,
      delegateDeployment(one, other).address,
      delegateDeployment(other, one).address,
    ];
    expect(new Set(addresses).size).toBe(4);
  });

  test('a delegation is written as the node shows it', async () => {
    const deposit = account(700);
    const contract = batchPayoutDeployment().address;
    const authorization = await node.client.signAuthorization({
      account: deposit,
      contractAddress: contract,
      nonce: 0,
    });
    const to = OWNER.address;
    await node.mined(
      node.client.sendTransaction({ ...by(OWNER, 100_000n), to, authorizationList: [authorization] }),
    );
    expect(await node.client.getCode({ address: deposit.address })).toBe(delegationTo(contract));
  });
});
