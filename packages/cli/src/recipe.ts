import type { Florin } from '@florin/sdk';

/** The result of a recipe: the resource whose events follow, and a message. */
export interface Triggered {
  resource: string;
  said: string;
}

export type Recipe = (florin: Florin) => Promise<Triggered>;
