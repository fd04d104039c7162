import type { Florin } from '@florin/sdk';

/** What a recipe did: the resource whose events follow, and how to say it. */
export interface Triggered {
  resource: string;
  said: string;
}

export type Recipe = (florin: Florin) => Promise<Triggered>;
