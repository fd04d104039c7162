export { EXCHANGE_BODY_BYTES_MAX, type Exchange, type ExchangeRecorder } from './exchanges.ts';
