import type { Command } from 'commander';
import { examples } from './examples.ts';

/** Adds a command to a group: an operation, or code for a command that is more than one call. */
export type AddCommand = (group: Command) => void;

interface Resource {
  name: string;
  description: string;
  examples: readonly string[];
  operations: readonly AddCommand[];
}

export function resource({ name, description, examples: lines, operations }: Resource): AddCommand {
  return (program) => {
    const group = examples(program.command(name).description(description), lines);
    for (const add of operations) add(group);
  };
}
