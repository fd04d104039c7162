import { bytesToHex, getAddress, keccak256, parseEther } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { Collector, TestUSDC } from '../../../contracts/artifacts/index.ts';
import { BlockFeed } from '../../../packages/server/src/chains/evm/blocks.ts';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import { EvmChain } from '../../../packages/server/src/chains/evm/evm-chain.ts';
import { AccountAddresses } from '../../../packages/server/src/chains/evm/extended-key.ts';
import type { EvmNode } from '../../../packages/server/src/chains/evm/node.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { batchPayoutDeployment, DETERMINISTIC_DEPLOYER } from '../../../packages/signer/src/contracts.ts';
import { PUBLIC_TEST_MNEMONIC } from '../../../scripts/anvil.ts';
import { by, mined, OWNER } from '../../../scripts/local-chain.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { describeChain } from '../conformance.ts';
import type { ChainEnvironment } from '../conformance-environment.ts';
import { EvmEnvironment, FINAL_BLOCKS } from './environment.ts';
import { hotWallet, KeySigner, TANK } from './key-signer.ts';
import { mandatePayers } from './mandate-payers.ts';

const PAYER_WALLETS = 20;
const APPROVED = 10n ** 15n;

if (hasAnvil()) describeChain('Ethereum', openEthereum);

async function openEthereum(): Promise<ChainEnvironment> {
  const local = await EvmEnvironment.start();
  const { client } = local;
  const { address: batchPayout, data } = batchPayoutDeployment();
  await mined(
    client,
    client.sendTransaction({ ...by(OWNER, 2_000_000n), to: DETERMINISTIC_DEPLOYER, data: bytesToHex(data) }),
  );
  const network = {
    ...local.network,
    batchPayout,
    endpoints: [{ url: local.node(0).url, isOwn: true }],
  };
  const usdc = { address: local.token('USDC'), abi: TestUSDC.abi };
  const rejecting = local.recipient(6_000);
  await mined(
    client,
    client.writeContract({ ...by(OWNER), ...usdc, functionName: 'blacklist', args: [getAddress(rejecting)] }),
  );
  const hot = hotWallet(1);
  await client.setBalance({ address: hot.address, value: parseEther('100') });
  const approve = { ...usdc, functionName: 'approve', args: [batchPayout, APPROVED] } as const;
  await mined(client, client.writeContract({ ...by(hot), ...approve }));
  const collector = getAddress(local.network.collector ?? '');
  const account = [getAddress(addressesOf(1).owner), hot.address, hot.address] as const;
  const opening = { address: collector, abi: Collector.abi, functionName: 'open', args: account } as const;
  await mined(client, client.writeContract({ ...by(OWNER), ...opening }));
  // The suite counts its sequences from 0.
  await client.setNonce({ address: hot.address, nonce: 0 });
  await client.setAutomine(false);
  await client.mine({ blocks: FINAL_BLOCKS });

  const rpc = new EvmEndpoints(network, { log: createLogger('silent'), timeoutMs: 20_000, restMs: 0 });
  const feed = new BlockFeed(rpc, network, { refreshMs: 0, keepMs: 0 });
  const signer = new KeySigner();
  let losing = 0;
  const node: EvmNode = {
    call: async (method, params) => {
      // A node that lags behind still has the transaction in its pool.
      if (method === 'eth_getTransactionByHash' && local.node(0).lag > 0) {
        const hash: `0x${string}` = `0x${String(params[0]).slice(2)}`;
        return { ...(await client.getTransaction({ hash })), blockNumber: null };
      }
      if (method !== 'eth_sendRawTransaction' || losing === 0) return await rpc.call(method, params);
      losing -= 1;
      return keccak256(`0x${String(params[0]).slice(2)}`);
    },
    agreed: (method, params) => rpc.agreed(method, params),
    callMany: (requests) => rpc.callMany(requests),
    agreedMany: (requests) => rpc.agreedMany(requests),
    newest: (tag) => rpc.newest(tag),
    agreedFrom: (height, requests) => rpc.agreedFrom(height, requests),
  };
  const open = (account: number): EvmChain => {
    return new EvmChain({
      network,
      node,
      feed,
      addresses: addressesOf(account),
      tank: TANK.address,
      nowMs: () => Date.now(),
      signer,
      merchantId: 'merchant',
      account,
    });
  };
  const chain = open(1);
  return {
    chain,
    holder: signer,
    keyRef: 'hot',
    asset: 'USDC',
    seesUnlisted: false,
    wallet: async (number) => ({ chain: open(1_000 + number), keyRef: 'hot' }),
    fund: async (asset, amount) => {
      const address = local.token(asset);
      const args = [hot.address, amount] as const;
      const hash = client.writeContract({
        ...by(OWNER, 200_000n),
        address,
        abi: TestUSDC.abi,
        functionName: 'mint',
        args,
      });
      await hash;
      await client.mine({ blocks: FINAL_BLOCKS });
      await mined(client, hash);
    },
    recipient: (number) => local.recipient(number),
    rejecting,
    mine: async (blocks) => {
      if (blocks > 0) await client.mine({ blocks });
    },
    finalBlocks: FINAL_BLOCKS,
    expire: async () => undefined,
    reorg: (depth, options) => local.reorg(depth, options),
    dropNext: async () => {
      losing += 1;
    },
    pay: async (transfers) => {
      await client.setAutomine(true);
      const txId = await local.pay(transfers);
      await client.setAutomine(false);
      return txId;
    },
    payer: (number) => local.recipient(7_000 + (number % PAYER_WALLETS)),
    ...mandatePayers(local, collector),
    outage: async (isOn) => {
      local.node(0).manner = isOn ? 'broken' : undefined;
    },
    lag: async (blocks) => {
      local.node(0).lag = blocks;
    },
    loseLog: async () => {
      let isLost = false;
      local.node(0).lie = ({ method }, result) => {
        if (isLost || method !== 'eth_getLogs' || !Array.isArray(result) || result.length === 0)
          return undefined;
        isLost = true;
        return result.slice(1);
      };
    },
    close: async () => {
      await rpc.close();
      await local.stop();
    },
  };
}

function addressesOf(account: number): AccountAddresses {
  const key = mnemonicToAccount(PUBLIC_TEST_MNEMONIC, { path: `m/44'/60'/${account}'` }).getHdKey();
  return new AccountAddresses(key.publicExtendedKey);
}
