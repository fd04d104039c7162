import type { Asset } from '@florin/contract/money';
import {
  batchPayoutDeployment,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  sweeperDeployment,
} from '@florin/signer/contracts';
import { type Address, bytesToHex, encodeFunctionData } from 'viem';
import { knownTerms, openData, readSignature } from '../collector/mandates.ts';
import { type KeyRef, type Movement, rotatedEpochOf, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { plainCall, toAddress, tokenOf } from './build-transfer.ts';
import { TOKEN_ABI } from './contracts.ts';
import { type GasUse, gasLimit } from './gas.ts';
import { activationData, collectorOf, siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { Call } from './transaction.ts';

/** Wallets of a merchant and of the installation, in EIP-55. */
export interface MovementWallets {
  /** The merchant's account number, from 1. */
  account: number;
  /** The present hot wallet. */
  hot: Address;
  /** Those of the epochs before, in order. */
  rotated: readonly Address[];
  /** The first hot wallet of all. */
  first: Address;
  /** Owner of its account at the collector. */
  owner: Address;
  /** Whether that is outside of the signer. */
  isOwnerCold: boolean;
  tank: Address;
}

export interface BuiltMovement {
  call: Call;
  purpose: AskedPurpose;
}

/** What the chain holds before the movement; read for the movements that depend on it. */
export interface MovementState {
  /** `approve`: what the payout contract may pull already. */
  allowance: bigint;
  /** `deploy`: whether the contract is there. */
  isDeployed: boolean;
}

/** @throws UnbuildableTransfer */
export function buildMovementCall(
  { network, wallets, state }: { network: EvmNetwork; wallets: MovementWallets; state: MovementState },
  keyRef: KeyRef,
  movement: Movement,
): BuiltMovement {
  const limit = (use: GasUse) => gasLimit(use, network.feeCeilings.gasPerTransaction);
  switch (movement.kind) {
    case 'fill': {
      const self = keyRef === 'tank' ? wallets.tank : walletAt(wallets, keyRef).address;
      return { call: plainCall(self, '0x', limit({ kind: 'plain' })), purpose: { kind: 'fill' } };
    }
    case 'gas': {
      assertSender(keyRef, 'tank', movement.kind);
      if (movement.amount <= 0n) throw new UnbuildableTransfer('a top-up of gas is an amount above 0');
      return gasCall(wallets, movement, limit({ kind: 'plain' }));
    }
    case 'move': {
      const { asset, amount } = movement;
      if (rotatedEpochOf(keyRef) === null || amount <= 0n)
        throw new UnbuildableTransfer(`a rotated wallet hands coins over, not ${keyRef}`);
      const purpose = { kind: 'move', asset, amount: String(amount) } as const;
      if (asset === null) {
        const call = plainCall(wallets.hot, '0x', limit({ kind: 'plain' }));
        return { call: { ...call, value: amount }, purpose };
      }
      const args = [wallets.hot, amount] as const;
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args });
      return { call: plainCall(tokenOf(network, asset), data, limit({ kind: 'transfer' })), purpose };
    }
    case 'approve': {
      assertSender(keyRef, 'hot', movement.kind);
      return {
        call: approveCall(network, movement, state.allowance, limit({ kind: 'approve' })),
        purpose: { kind: 'approve', asset: movement.asset, amount: String(movement.amount) },
      };
    }
    case 'account': {
      assertSender(keyRef, 'tank', movement.kind);
      const call = plainCall(collectorOf(network), openData(wallets), limit({ kind: 'account' }));
      return { call, purpose: { kind: 'account', account: wallets.account } };
    }
    case 'activate': {
      assertSender(keyRef, 'hot', movement.kind);
      const { mandate, signature, permit } = movement;
      const terms = knownTerms(siteOf(network), wallets, mandate);
      const data = activationData(terms, readSignature(signature), permit);
      const { asset, payer } = mandate;
      const call = plainCall(
        collectorOf(network),
        data,
        limit({ kind: permit === undefined ? 'activate' : 'permit' }),
      );
      return { call, purpose: { kind: 'activate', asset, payer } };
    }
    case 'lend':
    case 'unlend':
      throw new UnbuildableTransfer('nothing is staked on this network');
    case 'deploy': {
      assertSender(keyRef, 'tank', movement.kind);
      const { address, data } = deploymentOf(movement.contract, wallets);
      if (state.isDeployed) throw new UnbuildableTransfer(`${movement.contract} is at ${address} already`);
      const gas = limit({ kind: 'deploy', bytes: data.length });
      const call = plainCall(DETERMINISTIC_DEPLOYER, bytesToHex(data), gas);
      return { call, purpose: deployPurpose(movement.contract, wallets) };
    }
  }
}

function gasCall(
  wallets: MovementWallets,
  { to, amount }: Extract<Movement, { kind: 'gas' }>,
  gas: bigint,
): BuiltMovement {
  const { account, owner } = wallets;
  const callTo = (address: Address): Call => ({ ...plainCall(address, '0x', gas), value: amount });
  if (to === 'owner' && wallets.isOwnerCold)
    throw new UnbuildableTransfer('an owner outside of the signer pays its own fees');
  if (to === 'owner') return { call: callTo(owner), purpose: { kind: 'gas', account, to } };
  const { address, epoch } = walletAt(wallets, to ?? 'hot');
  // Where it is meant for the present wallet, the signer refuses a caller that takes an old one for it.
  const where = to === undefined ? {} : ({ to: 'rotated' } as const);
  return { call: callTo(address), purpose: { kind: 'gas', account, ...where, ...epochField(epoch) } };
}

/** The signer knows requests without an epoch as those of the first one. */
export const epochField = (epoch: number): { epoch?: number } => (epoch === 0 ? {} : { epoch });

/** A hot wallet, and its epoch. @throws UnbuildableTransfer where the key is another's */
export function walletAt(
  { hot, rotated }: Pick<MovementWallets, 'hot' | 'rotated'>,
  keyRef: KeyRef,
): { address: Address; epoch: number } {
  if (keyRef === 'hot') return { address: hot, epoch: rotated.length };
  const epoch = rotatedEpochOf(keyRef);
  const address = epoch === null ? undefined : rotated[epoch];
  if (epoch === null || address === undefined)
    throw new UnbuildableTransfer(`${keyRef} is no hot wallet of this merchant`);
  return { address, epoch };
}

function deployPurpose(
  contract: Extract<Movement, { kind: 'deploy' }>['contract'],
  { account, rotated }: MovementWallets,
): AskedPurpose {
  return contract === 'sweep_delegate'
    ? { kind: 'deploy', contract, account, ...epochField(rotated.length) }
    : { kind: 'deploy', contract };
}

/** The contract's address and the deployer's data. Its sweeper and delegate are those of the installation's gas tank. */
export function deploymentOf(
  contract: Extract<Movement, { kind: 'deploy' }>['contract'],
  { hot, tank }: MovementWallets,
): Deployment {
  switch (contract) {
    case 'batch_payout':
      return batchPayoutDeployment();
    case 'collector':
      return collectorDeployment();
    case 'sweeper':
      return sweeperDeployment(tank);
    case 'sweep_delegate':
      return delegateDeployment(hot, sweeperDeployment(tank).address);
  }
}

const ALLOWANCE_MAX = 2n ** 256n - 1n;

function approveCall(
  network: EvmNetwork,
  { asset, amount }: { asset: Asset; amount: bigint },
  allowance: bigint,
  gas: bigint,
): Call {
  if (network.batchPayout === null) {
    throw new UnbuildableTransfer(`${network.name} has no payout contract to approve`);
  }
  if (amount < 0n || amount > ALLOWANCE_MAX) throw new UnbuildableTransfer('amount out of range');
  if (asset === 'USDT' && amount > 0n && allowance > 0n) {
    throw new UnbuildableTransfer('USDT goes from one allowance to another by way of 0: approve 0 first');
  }
  const args = [toAddress(network.batchPayout), amount] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'approve', args });
  return plainCall(tokenOf(network, asset), data, gas);
}

function assertSender(keyRef: KeyRef, expected: 'hot' | 'tank', kind: string): void {
  if (keyRef !== expected)
    throw new UnbuildableTransfer(`the ${expected} wallet sends ${kind}, not ${keyRef}`);
}
