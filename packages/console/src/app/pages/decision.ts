import { useQuery } from '@tanstack/react-query';
import { call, PageError, pathWith } from '../api.ts';
import { answerOfPasskey, type PasskeyOptions } from '../passkey.ts';
import { useMay, usePlace } from '../place.ts';

export interface Recipient {
  address: string;
  amount: string;
  is_new: boolean;
  looks_like: string | null;
  is_alike_approved: boolean;
}

/** What is signed, and how this person may decide on it. */
export interface Decision {
  network: string;
  currency: string;
  count: number;
  total: string;
  digest: string;
  recipients: Recipient[];
  /** Where it does not wait for a decision, it is under way and may only be signed, while a signature is missing. */
  is_waiting: boolean;
  way: 'passkey' | 'session' | 'none';
  hint: string | null;
  signs_again: string[];
}

const AGAIN_MS = 15_000;

const pathOf = (merchant: string, resource: string) =>
  `/console/api/merchants/${merchant}${resource}/decision`;

/** @param resource below its merchant: `/refunds/re_…` */
export function useDecision(resource: string) {
  const place = usePlace();
  const path = pathOf(place.merchant, resource);
  const query = useQuery({
    queryKey: ['decision', place, path],
    queryFn: ({ signal }) => call<Decision>(path, { place, signal }),
    enabled: useMay('approve'),
    // Somebody else may have decided, or the signer that did not answer may by now.
    refetchInterval: ({ state: { data } }) => (data?.is_waiting === true || data?.way === 'none') && AGAIN_MS,
  });
  return { path, query };
}

interface Asked {
  valid_until: number;
  digest: string;
  options: PasskeyOptions;
}

/** Asks the passkey for a decision on what the page shows. @returns the body of the change */
export async function askPasskey(
  path: string,
  { decision, digest }: { decision: 'approved' | 'rejected'; digest: string },
): Promise<object> {
  const asked = await call<Asked>(pathWith(`${path}/options`, { decision }));
  if (asked.digest !== digest) throw new PageError('What is paid has changed: read it again.');
  return { decision, valid_until: asked.valid_until, credential: await answerOfPasskey(asked.options) };
}
