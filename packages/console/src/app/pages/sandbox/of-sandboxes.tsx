import { Text } from '@mantine/core';

/** In the place of a page that real money does not have, nor a role that may not use it. */
export const OfSandboxes = () => (
  <Text>Clock, chains and wallets are those of a sandbox, and for all of its people but viewers.</Text>
);
