import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** What can be done while one operator has to find a second one. @param who there is */
export const Alone = ({ who, children }: { who: string; children: ReactNode }) => (
  <Text size="sm">
    {who}, and two have to agree. Make another one (npx florin users invite, with --role operator
    --installation), or let {children}
  </Text>
);
