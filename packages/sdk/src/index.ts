export { usdc, usdt } from './amounts.ts';
export { type ApprovalKey, approvalText, signApproval } from './approvals.ts';
export type { CursorList } from './cursor-list.ts';
export type { ErrorCode, KnownCode } from './errors.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  FlorinError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
} from './errors.ts';
export type { FlorinOptions } from './florin.ts';
export { Florin } from './florin.ts';
export type { Stamp } from './sign.ts';
export { freshStamp, signatureHeaders } from './sign.ts';
export { responseOf } from './transport.ts';
export type * from './types.ts';
export type {
  GuardedHandler,
  Receiver,
  ReceiverOptions,
  SequenceStore,
  TestHeaderOptions,
  Verdict,
  VerifyOptions,
  WebhookAnswer,
  WebhookHeaders,
  WebhookRefusal,
  WebhookSecret,
} from './webhooks/index.ts';
export { MemoryStore, WebhookVerificationError, webhooks } from './webhooks/index.ts';
