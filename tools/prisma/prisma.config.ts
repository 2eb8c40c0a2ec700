import { defineConfig } from 'prisma/config';
export default defineConfig({ schema: '../../prisma/app/schema.prisma' });
