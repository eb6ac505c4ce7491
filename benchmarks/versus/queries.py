"""The requests to contenders: the same documents for all that speak GraphQL, paths for the others."""

import json
from dataclasses import dataclass

PAGE, VISITED = 30, 10  # entries of a page, and of the profile that front ends show
_NODE = """cursor node { ... on Post { id text createdAt likeCount repostCount commentCount
  author { id login name } } }"""
HOME = f"""query Home($first: Int!) {{
  homeTimeline(first: $first) {{ edges {{ {_NODE} }} pageInfo {{ endCursor hasNextPage }} }} }}"""
PROFILE = f"""query Profile($login: String!, $first: Int!) {{ user(login: $login) {{
  id login name bio followerCount followingCount postCount
  timeline(first: $first) {{ edges {{ {_NODE} }} pageInfo {{ endCursor hasNextPage }} }} }} }}"""
_AUTHOR = "author { id login name }"
VISIT = f"""query Visit($login: String!, $first: Int!) {{ user(login: $login) {{
  id login name bio followerCount followingCount postCount
  timeline(first: $first) {{
    edges {{ cursor node {{
      ... on Post {{ id text createdAt likeCount repostCount commentCount viewerHasLiked {_AUTHOR} }} }} }}
    pageInfo {{ endCursor hasNextPage }} }} }} }}"""
FEED = f"""query Feed($first: Int!) {{ homeTimeline(first: $first) {{
  edges {{ cursor
    node {{
      ... on Post {{ id text createdAt likeCount repostCount commentCount viewerHasLiked {_AUTHOR} }}
      ... on Repost {{ original {{ id text createdAt {_AUTHOR} }} }} }}
    repostedBy(first: 3) {{ user {{ id login name }} }} repostedByCount }}
  pageInfo {{ endCursor hasNextPage }} }} }}"""
POST = """mutation Post($text: String!) { post(input: { text: $text }) {
  status { id text createdAt author { id login name } } userErrors { message } } }"""

LIKE = """mutation Like($post: ID!) { like(input: { postId: $post }) {
  post { likeCount viewerHasLiked } userErrors { message } } }"""

REPOST = """mutation Repost($post: ID!, $text: String) { repost(input: { postId: $post, text: $text }) {
  repost { id } userErrors { message } } }"""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with its token; `as_path` is for contenders without GraphQL."""

    token: str
    document: str
    variables: dict[str, str | int]
    as_path: tuple[str, str, str]  # method, path, body


def home(token: str) -> Request:
    """Return the request for the first page of the home."""
    return Request(token, HOME, {"first": PAGE}, ("GET", f"/home?first={PAGE}", ""))


def feed(token: str) -> Request:
    """Return the request for the first page of the home as a front end shows it: flags, reposters, quoted posts."""
    return Request(token, FEED, {"first": PAGE}, ("", "", ""))


def repost(token: str, post: str, text: str = "") -> Request:
    """Return the request that reposts a post, or quotes it in a text; of Perch only."""
    return Request(token, REPOST, {"post": post, **({"text": text} if text else {})}, ("", "", ""))


def profile(token: str, login: str) -> Request:
    """Return the request for a member and the first page of their posts."""
    return Request(token, PROFILE, {"login": login, "first": PAGE}, ("GET", f"/users/{login}?first={PAGE}", ""))


def visit(token: str, login: str) -> Request:
    """Return the request for a member and their newest posts as a front end shows them, with the viewer's likes."""
    return Request(token, VISIT, {"login": login, "first": VISITED}, ("", "", ""))


def post(token: str, text: str) -> Request:
    """Return the request that publishes a text."""
    return Request(token, POST, {"text": text}, ("POST", "/posts", json.dumps({"text": text})))


def like(token: str, post: str) -> Request:
    """Return the request that likes a post; of Perch only."""
    return Request(token, LIKE, {"post": post}, ("", "", ""))


def encoded(request: Request, *, graphql: bool) -> dict[str, str]:
    """Return the head, without the length, and the body of a request as it is sent."""
    method, path, body = request.as_path
    if graphql:
        method, path = "POST", "/graphql"
        body = json.dumps({"query": request.document, "variables": request.variables})
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Accept: application/json",
        f"Authorization: Bearer {request.token}",
        *(["Content-Type: application/json"] if body else []),
    ]
    return {"head": "\r\n".join(lines), "body": body}


def sent(request: Request, *, graphql: bool) -> str:
    """Return all that is sent for a request."""
    parts = encoded(request, graphql=graphql)
    return f"{parts['head']}\r\nContent-Length: {len(parts['body'].encode())}\r\n\r\n{parts['body']}"
