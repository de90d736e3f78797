locals {
  common = {
    Content-Type = "application/json"
    Useragent    = "Yandex"
  }
}
locals {
  authorized = merge(local.common, {
    Authorization = "Bearer {{.request.auth_req.postprocessor.token}}"
  })
}
variable_source "users" "file/csv" {
  file              = "users.csv"
  fields            = ["user_id", "name"]
  ignore_first_line = true
  delimiter         = ","
}
variable_source "global" "variables" {
  variables = {
    id = "g1"
  }
}
request "auth_req" {
  method  = "POST"
  uri     = "/auth?g={{.source.global.id}}"
  headers = local.common
  tag     = "auth"
  body    = <<EOF
{"user_id": {{.request.auth_req.preprocessor.user_id}}}
EOF

  preprocessor {
    mapping = {
      user_id = "source.users[next].user_id"
    }
  }
  postprocessor "var/jsonpath" {
    mapping = {
      token = "$.auth_key"
    }
  }
  postprocessor "var/header" {
    mapping = {
      kind = "X-Kind|upper|substr(0,2)"
    }
  }
  postprocessor "assert/response" {
    headers = {
      Content-Type = "json"
    }
    body = ["auth"]
    size {
      val = 5
      op  = ">"
    }
  }
}
request "list_req" {
  method  = "GET"
  uri     = "/list?kind={{.request.auth_req.postprocessor.kind}}"
  headers = local.authorized
  postprocessor "var/jsonpath" {
    mapping = {
      items = "$.items"
    }
  }
}
request "order_req" {
  method  = "POST"
  uri     = "/order"
  headers = local.authorized
  body    = "{{.request.order_req.preprocessor.item}}"

  preprocessor {
    mapping = {
      item = "request.list_req.postprocessor.items[next]"
    }
  }
}
scenario "buy" {
  weight           = 50
  min_waiting_time = 10
  requests         = ["auth_req(1)", "sleep(20)", "list_req", "order_req(3, 10)"]
}
