/** One step of signing a request, as the page "Signing a request" lists them. */
export interface RefusalStep {
  name: 'headers' | 'key' | 'timestamp' | 'nonce' | 'signed bytes' | 'secret key' | 'signature';
  /** Null: the request does not show it. */
  ok: boolean | null;
  reason: string;
  /** What to do. */
  advice: string | null;
}

/** Why a signature was refused, for the owner of the key alone. It holds no secret and no valid signature. */
export interface RefusalExplanation {
  /** The first step that failed, in a sentence. */
  summary: string;
  /** What must be signed: `<timestamp>.<nonce>.<body as received>`. Null where the headers or the body are not at hand. */
  payload: { bytes: number; sha256: string } | null;
  steps: RefusalStep[];
}

export type Verdict = Omit<RefusalStep, 'name'>;

export const fine = (reason: string): Verdict => ({ ok: true, reason, advice: null });
export const wrong = (reason: string, advice: string): Verdict => ({ ok: false, reason, advice });
export const unknown = (reason: string): Verdict => ({ ok: null, reason, advice: null });
