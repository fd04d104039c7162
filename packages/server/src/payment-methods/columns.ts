import { columnsOf } from '../platform/db/statements/index.ts';
import './tables.ts';

export const PAYMENT_METHOD = columnsOf('payment_method', {
  merchant_id: 'uuid',
  payment_method_id: 'uuid',
  store_id: 'uuid',
  customer_id: 'uuid',
  currency: 'text',
  network: 'text',
  wallet_address: 'text',
  recipient: 'text',
  mandate_id: 'text',
  salt: 'text',
  cap_amount: 'bigint',
  subscriptions: 'integer',
  interval: 'text',
  starts_at: 'bigint',
  ends_at: 'bigint',
  status: 'text',
  balance: 'bigint',
  allowance: 'bigint',
  read_at: 'bigint',
  next_read_at: 'bigint',
  elsewhere_since: 'bigint',
  metadata: 'jsonb',
  created_at: 'bigint',
  activated_at: 'bigint',
});
