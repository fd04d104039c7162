import { Text } from '@mantine/core';

/** A box of a form that is ticked or not. */
export const Tick = ({ name, label }: { name: string; label: string }) => (
  <Text component="label" size="sm">
    <input type="checkbox" name={name} /> {label}
  </Text>
);
