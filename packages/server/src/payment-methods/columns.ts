import { Columns } from '../platform/columns.ts';
import './tables.ts';

export const PAYMENT_METHOD = new Columns<'payment_method'>({
  merchant_id: true,
  payment_method_id: true,
  store_id: true,
  customer_id: true,
  currency: true,
  network: true,
  wallet_address: true,
  recipient: true,
  mandate_id: true,
  salt: true,
  cap_amount: true,
  interval: true,
  starts_at: true,
  ends_at: true,
  status: true,
  balance: true,
  allowance: true,
  read_at: true,
  next_read_at: true,
  metadata: true,
  created_at: true,
});
