import { Module } from '@nestjs/common';
import { McpServersController } from './mcp-servers.controller.js';
import { McpServersService } from './mcp-servers.service.js';
import { McpTestService } from './mcp-test.service.js';

@Module({ controllers: [McpServersController], providers: [McpServersService, McpTestService] })
export class McpServersModule {}
