/** Values of mainnet in 2026, as `getchainparameters` shows them. */
export const PARAMETERS = {
  getCreateAccountFee: 100_000,
  getTransactionFee: 1_000,
  getCreateNewAccountFeeInSystemContract: 1_000_000,
  getCreateNewAccountBandwidthRate: 1,
  getEnergyFee: 100,
  getTotalEnergyCurrentLimit: 180_000_000_000,
  getFreeNetLimit: 600,
  getTotalNetLimit: 43_200_000_000,
  getMemoFee: 1_000_000,
  getMaxFeeLimit: 15_000_000_000,
  getUnfreezeDelayDays: 14,
  getMaxDelegateLockPeriod: 864_000,
};

/** How much TRX all people have staked for each: it shares the limits of a day. */
export const TOTAL_WEIGHT = { energy: 19_000_000_000, bandwidth: 27_000_000_000 };

const DAY_MS = 86_400_000;
const SUN = 1_000_000;

export type Resource = 'energy' | 'bandwidth';

interface Usage {
  used: number;
  at: number;
}

export interface TronAccount {
  address: string;
  createdAt: number;
  /** In sun. */
  balance: number;
  /** Staked by the account and at its own disposal, in sun. */
  frozen: Record<Resource, number>;
  delegatedIn: Record<Resource, number>;
  /** By receiver. */
  delegatedOut: Record<Resource, Record<string, number>>;
  usage: Record<Resource | 'free', Usage>;
}

export function newAccount(address: string, createdAt: number): TronAccount {
  const nothing = () => ({ energy: 0, bandwidth: 0 });
  const unused = () => ({ used: 0, at: createdAt });
  return {
    address,
    createdAt,
    balance: 0,
    frozen: nothing(),
    delegatedIn: nothing(),
    delegatedOut: { energy: {}, bandwidth: {} },
    usage: { energy: unused(), bandwidth: unused(), free: unused() },
  };
}

/** What was used comes back evenly over a day. */
export function usedAt({ used, at }: Usage, now: number): number {
  return Math.floor((used * Math.max(0, DAY_MS - (now - at))) / DAY_MS);
}

/** What stake gives for a day. */
export function limitOf({ frozen, delegatedIn }: TronAccount, resource: Resource): number {
  const staked = Math.floor((frozen[resource] + delegatedIn[resource]) / SUN);
  const total = resource === 'energy' ? PARAMETERS.getTotalEnergyCurrentLimit : PARAMETERS.getTotalNetLimit;
  return Math.floor((staked * total) / TOTAL_WEIGHT[resource]);
}

function left(account: TronAccount, resource: Resource, now: number): number {
  return Math.max(0, limitOf(account, resource) - usedAt(account.usage[resource], now));
}

function use(account: TronAccount, resource: Resource | 'free', amount: number, now: number): void {
  account.usage[resource] = { used: usedAt(account.usage[resource], now) + amount, at: now };
}

export interface Bandwidth {
  net_usage?: number;
  net_fee?: number;
}

/** Staked bandwidth first, then the free one of each day, then TRX. @returns undefined where none is enough */
export function bandwidthFor(account: TronAccount, size: number, now: number): Bandwidth | undefined {
  if (size <= left(account, 'bandwidth', now)) return { net_usage: size };
  if (size <= PARAMETERS.getFreeNetLimit - usedAt(account.usage.free, now)) return { net_usage: size };
  const fee = size * PARAMETERS.getTransactionFee;
  return fee <= account.balance ? { net_fee: fee } : undefined;
}

export function payBandwidth(account: TronAccount, bandwidth: Bandwidth, now: number): void {
  const { net_usage: size = 0, net_fee: fee = 0 } = bandwidth;
  if (size > 0) use(account, size <= left(account, 'bandwidth', now) ? 'bandwidth' : 'free', size, now);
  account.balance -= fee;
}

/** The most energy that a call may use: of stake and balance, and of its fee limit, which counts stake as well. */
export function energyLimit(account: TronAccount, feeLimit: number, now: number): number {
  const price = PARAMETERS.getEnergyFee;
  const available = left(account, 'energy', now) + Math.floor(account.balance / price);
  return Math.min(available, Math.floor(feeLimit / price));
}

export interface Energy {
  energy_usage?: number;
  energy_fee?: number;
  energy_usage_total?: number;
}

/** Stake first, the rest is burnt at the price of energy. */
export function payEnergy(account: TronAccount, total: number, now: number): Energy {
  const staked = Math.min(total, left(account, 'energy', now));
  const fee = (total - staked) * PARAMETERS.getEnergyFee;
  if (staked > 0) use(account, 'energy', staked, now);
  account.balance -= fee;
  return {
    ...(staked > 0 && { energy_usage: staked }),
    ...(fee > 0 && { energy_fee: fee }),
    ...(total > 0 && { energy_usage_total: total }),
  };
}

interface Loan {
  lender: TronAccount;
  borrower: TronAccount;
  resource: Resource;
  /** In sun; less than 0: it is taken back. */
  amount: number;
}

export function lendStake({ lender, borrower, resource, amount }: Loan): void {
  const out = lender.delegatedOut[resource];
  lender.frozen[resource] -= amount;
  borrower.delegatedIn[resource] += amount;
  out[borrower.address] = (out[borrower.address] ?? 0) + amount;
}

/** What was used of a loan counts to the lender when that takes it back. */
export function returnUsage({ lender, borrower, resource, amount }: Loan, now: number): void {
  const all = borrower.frozen[resource] + borrower.delegatedIn[resource];
  const share = all === 0 ? 0 : Math.floor((usedAt(borrower.usage[resource], now) * -amount) / all);
  use(borrower, resource, -share, now);
  use(lender, resource, share, now);
}

/** Stake that is not in use now, in sun: more cannot be delegated. */
export function delegatable(account: TronAccount, resource: Resource, now: number): number {
  const limit = limitOf(account, resource);
  if (limit === 0) return 0;
  const own = account.frozen[resource] + account.delegatedIn[resource];
  const inUse = Math.ceil((usedAt(account.usage[resource], now) / limit) * own);
  return Math.max(0, account.frozen[resource] - Math.max(0, inUse - account.delegatedIn[resource]));
}
